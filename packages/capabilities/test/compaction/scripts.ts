/** Texts in many scripts, and how many tokens the tokenizers cl100k_base and o200k_base make of them. */
export interface Sample {
  readonly script: string
  readonly text: string
  readonly cl100k: number
  readonly o200k: number
}
export const samples: ReadonlyArray<Sample> = [
  {
    script: "english",
    text: "The customer wrote on Monday that her booking was charged twice. We looked at both payments, found that the second one was never settled, and told her it would disappear from her statement within three working days.",
    cl100k: 41,
    o200k: 41
  },
  {
    script: "code",
    text: 'export const make = (options: Options = {}): Effect.Effect<Service> => {\n  const { capacity = 64, drain = "all" } = options\n  if (!Number.isSafeInteger(capacity) || capacity < 1) {\n    return Effect.die(new RangeError(`capacity is ${capacity}`))\n  }\n  return Effect.succeed({ capacity, drain })\n}',
    cl100k: 80,
    o200k: 80
  },
  {
    script: "json",
    text: '{"flight_number":"HAT136","origin":"LAX","destination":"JFK","scheduled_departure_time_est":"19:00:00","available_seats":{"basic_economy":14,"economy":0,"business":9},"prices":{"basic_economy":51,"economy":121,"business":239}}',
    cl100k: 66,
    o200k: 68
  },
  {
    script: "identifiers",
    text: "toolu_017qEkVzzPb7b7o4FkgJLF23 7c9e6679-7425-40de-944b-e07fc1f90ae7 a3f5c2d19b8e7746f0 2025-11-20T23:33:50.805Z 4111111111111111",
    cl100k: 82,
    o200k: 81
  },
  {
    script: "german",
    text: "Die Kundin schrieb am Montag, dass ihre Buchung zweimal abgerechnet wurde. Wir haben beide Zahlungen geprüft und festgestellt, dass die zweite nie ausgeführt wurde; sie verschwindet innerhalb von drei Werktagen vom Kontoauszug.",
    cl100k: 60,
    o200k: 48
  },
  {
    script: "french",
    text: "La cliente a écrit lundi que sa réservation avait été débitée deux fois. Nous avons vérifié les deux paiements, constaté que le second n'a jamais été réglé, et lui avons dit qu'il disparaîtrait de son relevé sous trois jours ouvrés.",
    cl100k: 62,
    o200k: 55
  },
  {
    script: "vietnamese",
    text: "Khách hàng viết vào thứ Hai rằng đặt chỗ của cô ấy đã bị tính phí hai lần. Chúng tôi đã kiểm tra cả hai khoản thanh toán và thấy rằng khoản thứ hai chưa bao giờ được quyết toán.",
    cl100k: 78,
    o200k: 45
  },
  {
    script: "russian",
    text: "Клиентка написала в понедельник, что её бронирование было оплачено дважды. Мы проверили оба платежа и выяснили, что второй так и не был проведён, и сообщили ей, что он исчезнет из выписки в течение трёх рабочих дней.",
    cl100k: 98,
    o200k: 60
  },
  {
    script: "greek",
    text: "Η πελάτισσα έγραψε τη Δευτέρα ότι η κράτησή της χρεώθηκε δύο φορές. Ελέγξαμε και τις δύο πληρωμές και διαπιστώσαμε ότι η δεύτερη δεν διακανονίστηκε ποτέ.",
    cl100k: 142,
    o200k: 54
  },
  {
    script: "hebrew",
    text: "הלקוחה כתבה ביום שני שההזמנה שלה חויבה פעמיים. בדקנו את שני התשלומים ומצאנו שהשני מעולם לא נסגר, ואמרנו לה שהוא ייעלם מהדף בתוך שלושה ימי עבודה.",
    cl100k: 137,
    o200k: 58
  },
  {
    script: "arabic",
    text: "كتبت العميلة يوم الاثنين أن حجزها قد تم خصمه مرتين. فحصنا الدفعتين ووجدنا أن الثانية لم تتم تسويتها أبدا، وأخبرناها أنها ستختفي من كشف حسابها خلال ثلاثة أيام عمل.",
    cl100k: 123,
    o200k: 54
  },
  {
    script: "hindi",
    text: "ग्राहक ने सोमवार को लिखा कि उसकी बुकिंग का शुल्क दो बार लिया गया था। हमने दोनों भुगतानों की जाँच की और पाया कि दूसरा कभी पूरा नहीं हुआ।",
    cl100k: 134,
    o200k: 38
  },
  { script: "bengali", text: "গ্রাহক সোমবার লিখেছেন যে তার বুকিংয়ের জন্য দুবার টাকা নেওয়া হয়েছে।", cl100k: 88, o200k: 19 },
  {
    script: "tamil",
    text: "வாடிக்கையாளர் திங்கட்கிழமை தனது முன்பதிவுக்கு இரண்டு முறை கட்டணம் வசூலிக்கப்பட்டதாக எழுதினார்.",
    cl100k: 129,
    o200k: 29
  },
  {
    script: "thai",
    text: "ลูกค้าเขียนมาเมื่อวันจันทร์ว่าการจองของเธอถูกเรียกเก็บเงินสองครั้ง เราตรวจสอบการชำระเงินทั้งสองครั้งแล้วพบว่าครั้งที่สองไม่เคยสำเร็จ",
    cl100k: 116,
    o200k: 52
  },
  {
    script: "chinese",
    text: "客户星期一来信说，她的预订被收了两次费。我们查看了两笔付款，发现第二笔从未结算，并告诉她这笔款项会在三个工作日内从账单上消失。",
    cl100k: 69,
    o200k: 51
  },
  {
    script: "traditional",
    text: "客戶星期一來信說，她的預訂被收了兩次費。我們查看了兩筆付款，發現第二筆從未結算，並告訴她這筆款項會在三個工作日內從帳單上消失。",
    cl100k: 92,
    o200k: 57
  },
  {
    script: "japanese",
    text: "お客様は月曜日に、予約が二重に請求されたと連絡してきました。両方の支払いを確認したところ、二回目は決済されていないことが分かり、三営業日以内に明細から消えるとお伝えしました。",
    cl100k: 96,
    o200k: 65
  },
  {
    script: "korean",
    text: "고객은 월요일에 예약 요금이 두 번 청구되었다고 적었습니다. 두 결제를 모두 확인한 결과 두 번째 결제는 처리되지 않았으며, 영업일 기준 3일 이내에 명세서에서 사라질 것이라고 안내했습니다.",
    cl100k: 92,
    o200k: 59
  },
  { script: "emoji", text: "😀🎉🚀👍🏽❤️👨‍👩‍👧🇩🇪✈️🔥😂🙏🏻💡📦🧾✅❌⚠️", cl100k: 66, o200k: 41 },
  {
    script: "georgian",
    text: "მომხმარებელმა ორშაბათს დაწერა, რომ მისი ჯავშანი ორჯერ ჩამოიჭრა.",
    cl100k: 115,
    o200k: 27
  },
  {
    script: "armenian",
    text: "Հաճախորդը երկուշաբթի գրել է, որ իր ամրագրման համար երկու անգամ գանձվել է։",
    cl100k: 134,
    o200k: 26
  },
  { script: "burmese", text: "ဖောက်သည်က တနင်္လာနေ့တွင် သူမ၏ကြိုတင်မှာယူမှုကို နှစ်ကြိမ်ကောက်ခံခဲ့သည်ဟု ရေးခဲ့သည်။", cl100k: 164, o200k: 40 },
  { script: "amharic", text: "ደንበኛዋ ሰኞ ዕለት ቦታ ማስያዣዋ ሁለት ጊዜ እንደተከፈለ ጽፋለች።", cl100k: 102, o200k: 76 },
  {
    script: "box",
    text: "┌──────┬──────┐\n│ name │ size │\n├──────┼──────┤\n│ a.ts │  120 │\n└──────┴──────┘",
    cl100k: 47,
    o200k: 46
  },
  { script: "math", text: "∀x∈ℝ: x²≥0 ⇒ √(x²)=|x|, ∑ᵢ αᵢ ≤ ∫f dμ — “ok” … €5 ≈ £4", cl100k: 50, o200k: 47 },
  { script: "rareHan", text: "𠀀𠀁𠂇𡃁𢆥𣎴𤣩", cl100k: 25, o200k: 26 }
]
