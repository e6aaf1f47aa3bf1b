import { assert, describe, it } from "@effect/vitest"
import { redact, redactUrl, tellingHeaders } from "../src/internal/secrets.ts"

describe("what looks like a key is taken out of", () => {
  it.each([
    "Incorrect API key provided: sk-proj-abcDEF0123456789_-xyz. You can find yours in the settings.",
    "Incorrect API key provided: sk-abc********************wxyz.",
    "invalid x-api-key: sk-ant-api03-AbC_123-xyz",
    `{"error":"bad","api_key":"f00dfacef00dface"}`,
    "Authorization: Bearer abc.def-123456",
    "no such key AIzaSyA-0123456789abcdefghijklmnopqrs",
    "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl is expired",
    "gsk_0123456789abcdef is not ours, xai-0123456789abcdef neither"
  ])("%s", (text) => {
    const shown = redact(text)
    assert.include(shown, "<redacted>")
    for (const secret of ["proj", "wxyz", "api03", "f00d", "abc.def", "AIza", "eyJ", "0123456789"]) {
      assert.notInclude(shown, secret)
    }
  })

  it("and everything else stays", () => {
    for (const text of [
      "The model `gpt-5` does not exist or you do not have access to it.",
      "max_tokens: 100000 > 64000",
      "Rate limit reached for gpt-4o in organization on tokens per min (TPM): Limit 30000",
      "The task-list is too long; a key question is open.",
      "You didn't provide an API key."
    ]) {
      assert.strictEqual(redact(text), text)
    }
  })

  it("and a text has an end", () => {
    assert.strictEqual(redact("x".repeat(30), 10), `${"x".repeat(10)}… (20 more characters)`)
  })

  it("and URLs keep no query and no password", () => {
    assert.strictEqual(redactUrl("https://u:p@x.example/v1/models?key=secret#a"), "https://x.example/v1/models")
    assert.strictEqual(redactUrl("no url"), "no url")
  })

  it("and of the headers remain those that help", () => {
    const headers = { "x-request-id": "r", "retry-after": "1", "set-cookie": "s", "openai-organization": "o" }
    assert.deepEqual(tellingHeaders(headers), { "x-request-id": "r", "retry-after": "1" })
  })
})
