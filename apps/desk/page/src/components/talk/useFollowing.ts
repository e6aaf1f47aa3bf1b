/**
 * Keeps the end of a list in sight while it grows, until somebody scrolls up; and again once they are back at its end.
 *
 * What decides is which way was scrolled, and not how far away the end is: a slow machine falls behind a fast answer by
 * any distance. (The list’s own following goes by the distance.)
 */
import { useCallback, useRef, useState } from "react"

/** So near to the end counts as there, in pixels. */
const threshold = 40

export interface Following {
  readonly isFollowing: boolean
  /** To be given the element that scrolls. */
  readonly scrollerRef: (element: HTMLElement | Window | null) => void
  /** To be called when the list has grown. */
  readonly onGrown: () => void
  readonly toEnd: () => void
}

export const useFollowing = (): Following => {
  const [isFollowing, setFollowing] = useState(true)
  const follows = useRef(true)
  const scroller = useRef<HTMLElement | undefined>(undefined)

  const set = useCallback((is: boolean) => {
    follows.current = is
    setFollowing(is)
  }, [])

  const onGrown = useCallback(() => {
    const element = scroller.current
    if (follows.current && element !== undefined) element.scrollTop = element.scrollHeight
  }, [])

  const scrollerRef = useCallback(
    (element: HTMLElement | Window | null) => {
      if (!(element instanceof HTMLElement)) return
      scroller.current = element
      let top = element.scrollTop
      let height = element.scrollHeight
      element.addEventListener("scroll", () => {
        const { clientHeight, scrollHeight, scrollTop } = element
        // A list that shrinks moves up by itself.
        const isUp = scrollTop < top && scrollHeight >= height
        if (scrollHeight - scrollTop - clientHeight < threshold) set(true)
        else if (isUp) set(false)
        top = scrollTop
        height = scrollHeight
      })
    },
    [set]
  )

  const toEnd = useCallback(() => {
    set(true)
    onGrown()
  }, [onGrown, set])

  return { isFollowing, scrollerRef, onGrown, toEnd }
}
