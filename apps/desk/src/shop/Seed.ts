/**
 * What the shop begins with: the same orders and shipments each time. Amounts are in cents, times UTC in milliseconds.
 */
import type { Order, Shipment } from "./Order.ts"

type OrderRow = readonly [
  orderId: string,
  customer: string,
  item: string,
  totalCents: number,
  status: Order["status"],
  placedAt: number
]

type ShipmentRow = readonly [
  orderId: string,
  carrier: string,
  trackingCode: string,
  status: Shipment["status"],
  place: string,
  updatedAt: number
]

// oxfmt-ignore
export const orders: ReadonlyArray<OrderRow> = [
  ["A-1001", "Ada Berger", "front lamp", 3900, "delivered", 1_786_889_600_000],
  ["A-1002", "Esra Yildiz", "floor pump", 3490, "shipped", 1_786_976_000_000],
  ["A-1003", "Ines Duarte", "bottle cage", 990, "delivered", 1_787_062_400_000],
  ["A-1004", "Dmitri Orlov", "chain, 9 speeds", 2450, "paid", 1_787_148_800_000],
  ["A-1005", "Hugo Martin", "helmet, size M", 7990, "delivered", 1_787_235_200_000],
  ["A-1006", "Carla Nunes", "touring saddle", 6900, "shipped", 1_787_321_600_000],
  ["A-1007", "Grace Kim", "child seat", 11900, "returned", 1_787_408_000_000],
  ["A-1008", "Ben Okafor", "folding lock", 8490, "delivered", 1_787_494_400_000],
  ["A-1009", "Finn Larsen", "pannier, 20 l", 5900, "shipped", 1_787_580_800_000],
  ["A-1010", "Ada Berger", "brake pads", 1490, "delivered", 1_787_667_200_000],
  ["A-1011", "Esra Yildiz", "city bicycle", 64900, "shipped", 1_787_753_600_000],
  ["A-1012", "Ines Duarte", "rain cape", 4990, "delivered", 1_787_840_000_000],
  ["A-1013", "Dmitri Orlov", "front lamp", 3900, "paid", 1_787_926_400_000],
  ["A-1014", "Hugo Martin", "floor pump", 3490, "delivered", 1_788_012_800_000],
  ["A-1015", "Carla Nunes", "bottle cage", 990, "shipped", 1_788_099_200_000],
  ["A-1016", "Grace Kim", "chain, 9 speeds", 2450, "returned", 1_788_185_600_000],
  ["A-1017", "Ben Okafor", "helmet, size M", 7990, "delivered", 1_788_272_000_000],
  ["A-1018", "Finn Larsen", "touring saddle", 6900, "shipped", 1_788_358_400_000],
  ["A-1019", "Ada Berger", "child seat", 11900, "delivered", 1_788_444_800_000],
  ["A-1020", "Esra Yildiz", "folding lock", 8490, "shipped", 1_788_531_200_000],
  ["A-1021", "Ines Duarte", "pannier, 20 l", 5900, "delivered", 1_788_617_600_000],
  ["A-1022", "Dmitri Orlov", "brake pads", 1490, "paid", 1_788_704_000_000],
  ["A-1023", "Hugo Martin", "city bicycle", 64900, "delivered", 1_788_790_400_000],
  ["A-1024", "Carla Nunes", "rain cape", 4990, "shipped", 1_788_876_800_000],
  ["A-1025", "Grace Kim", "front lamp", 3900, "returned", 1_788_963_200_000],
  ["A-1026", "Ben Okafor", "floor pump", 3490, "delivered", 1_789_049_600_000],
  ["A-1027", "Finn Larsen", "bottle cage", 990, "shipped", 1_789_136_000_000],
  ["A-1028", "Ada Berger", "chain, 9 speeds", 2450, "delivered", 1_789_222_400_000],
  ["A-1029", "Esra Yildiz", "helmet, size M", 7990, "shipped", 1_789_308_800_000],
  ["A-1030", "Ines Duarte", "touring saddle", 6900, "delivered", 1_789_395_200_000],
  ["A-1031", "Dmitri Orlov", "child seat", 11900, "paid", 1_789_481_600_000],
  ["A-1032", "Hugo Martin", "folding lock", 8490, "delivered", 1_789_568_000_000],
  ["A-1033", "Carla Nunes", "pannier, 20 l", 5900, "shipped", 1_789_654_400_000],
  ["A-1034", "Grace Kim", "brake pads", 1490, "returned", 1_789_740_800_000],
  ["A-1035", "Ben Okafor", "city bicycle", 64900, "delivered", 1_789_827_200_000],
  ["A-1036", "Finn Larsen", "rain cape", 4990, "shipped", 1_789_913_600_000]
]

// oxfmt-ignore
export const shipments: ReadonlyArray<ShipmentRow> = [
  ["A-1001", "Northpost", "NO730000", "delivered", "Bremen", 1_787_062_400_000],
  ["A-1002", "Wheelhaul", "WH730917", "delayed", "Lyon", 1_787_148_800_000],
  ["A-1003", "Parcelo", "PA731834", "delivered", "Porto", 1_787_235_200_000],
  ["A-1005", "Wheelhaul", "WH733668", "delivered", "Gdansk", 1_787_408_000_000],
  ["A-1006", "Parcelo", "PA734585", "delayed", "Utrecht", 1_787_494_400_000],
  ["A-1007", "Northpost", "NO735502", "delivered", "Bremen", 1_787_580_800_000],
  ["A-1008", "Wheelhaul", "WH736419", "delivered", "Lyon", 1_787_667_200_000],
  ["A-1009", "Parcelo", "PA737336", "in-transit", "Porto", 1_787_753_600_000],
  ["A-1010", "Northpost", "NO738253", "delivered", "Graz", 1_787_840_000_000],
  ["A-1011", "Wheelhaul", "WH739170", "label-made", "Gdansk", 1_787_926_400_000],
  ["A-1012", "Parcelo", "PA740087", "delivered", "Utrecht", 1_788_012_800_000],
  ["A-1014", "Wheelhaul", "WH741921", "delivered", "Lyon", 1_788_185_600_000],
  ["A-1015", "Parcelo", "PA742838", "label-made", "Porto", 1_788_272_000_000],
  ["A-1016", "Northpost", "NO743755", "delivered", "Graz", 1_788_358_400_000],
  ["A-1017", "Wheelhaul", "WH744672", "delivered", "Gdansk", 1_788_444_800_000],
  ["A-1018", "Parcelo", "PA745589", "delayed", "Utrecht", 1_788_531_200_000],
  ["A-1019", "Northpost", "NO746506", "delivered", "Bremen", 1_788_617_600_000],
  ["A-1020", "Wheelhaul", "WH747423", "lost", "Lyon", 1_788_704_000_000],
  ["A-1021", "Parcelo", "PA748340", "delivered", "Porto", 1_788_790_400_000],
  ["A-1023", "Wheelhaul", "WH750174", "delivered", "Gdansk", 1_788_963_200_000],
  ["A-1024", "Parcelo", "PA751091", "lost", "Utrecht", 1_789_049_600_000],
  ["A-1025", "Northpost", "NO752008", "delivered", "Bremen", 1_789_136_000_000],
  ["A-1026", "Wheelhaul", "WH752925", "delivered", "Lyon", 1_789_222_400_000],
  ["A-1027", "Parcelo", "PA753842", "label-made", "Porto", 1_789_308_800_000],
  ["A-1028", "Northpost", "NO754759", "delivered", "Graz", 1_789_395_200_000],
  ["A-1029", "Wheelhaul", "WH755676", "in-transit", "Gdansk", 1_789_481_600_000],
  ["A-1030", "Parcelo", "PA756593", "delivered", "Utrecht", 1_789_568_000_000],
  ["A-1032", "Wheelhaul", "WH758427", "delivered", "Lyon", 1_789_740_800_000],
  ["A-1033", "Parcelo", "PA759344", "in-transit", "Porto", 1_789_827_200_000],
  ["A-1034", "Northpost", "NO760261", "delivered", "Graz", 1_789_913_600_000],
  ["A-1035", "Wheelhaul", "WH761178", "delivered", "Gdansk", 1_790_000_000_000],
  ["A-1036", "Parcelo", "PA762095", "lost", "Utrecht", 1_790_086_400_000]
]
