/**
 * Text of a model, rendered. It is not trusted: no HTML is made of it, nothing is loaded because of it, and a link leads
 * only to the web or to mail.
 */
import { memo } from "react"
import ReactMarkdown, { type Components } from "react-markdown"
import remarkGfm from "remark-gfm"
import remend from "remend"

const plugins = [remarkGfm]

const components: Components = {
  a: ({ children, href }) =>
    href === undefined || href === "" ? (
      <span>{children}</span>
    ) : (
      <a href={href} rel="noopener noreferrer" target="_blank">
        {children}
      </a>
    ),
  // Loading an image from elsewhere would tell a stranger that, and when, a conversation is read.
  img: ({ alt, src }) => (
    <span className="image-stand-in">
      image{alt === undefined || alt === "" ? "" : `: ${alt}`}
      {typeof src === "string" && src !== "" ? (
        <a href={src} rel="noopener noreferrer" target="_blank">
          open
        </a>
      ) : null}
    </span>
  ),
  table: ({ children }) => (
    <div className="table-scroll" tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  pre: ({ children }) => (
    <pre tabIndex={0} role="region" aria-label="Code">
      {children}
    </pre>
  )
}

const safe = /^(https?:\/\/|mailto:)/i

/** An address that may stand in a link; nothing for any other. */
const safeUrl = (url: string): string => (safe.test(url) ? url : "")

export const Markdown = memo(({ text, isComing = false }: { readonly text: string; readonly isComing?: boolean }) => (
  <div className="markdown">
    <ReactMarkdown remarkPlugins={plugins} components={components} urlTransform={safeUrl} skipHtml={false}>
      {isComing ? remend(text, { linkMode: "text-only", images: false }) : text}
    </ReactMarkdown>
  </div>
))
