/**
 * What was typed and not sent, by conversation: a reload of the page does not lose it.
 */
const key = (conversationId: string) => `desk/draft/${conversationId}`

export const draft = {
  read: (conversationId: string): string => sessionStorage.getItem(key(conversationId)) ?? "",
  write: (conversationId: string, text: string): void => {
    if (text === "") sessionStorage.removeItem(key(conversationId))
    else sessionStorage.setItem(key(conversationId), text)
  }
}
