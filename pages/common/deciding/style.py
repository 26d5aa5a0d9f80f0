"""How the verdicts look: one style sheet, with the colours of the theme the user sees."""

from __future__ import annotations

from pages.common import shell

__all__ = ["style"]

_COLOURS = {
    "light": {
        "fail": "#A01A13",
        "inconclusive": "#8F6400",
        "pass": "#1B7F4B",
        "none": "#5B626D",
        "allowed": "#CFE5D6",
        "forbidden": "#F3DEDA",
        "empty": "#F0EEE9",
        "line": "#E3DFD8",
        "hover": "#F7F5F0",
    },
    "dark": {
        "fail": "#F2837B",
        "inconclusive": "#E3B34C",
        "pass": "#5CC48D",
        "none": "#A9B0BA",
        "allowed": "#23392F",
        "forbidden": "#3A2524",
        "empty": "#1F232A",
        "line": "#2A2E36",
        "hover": "#1A1D23",
    },
}

_STYLE = """
.fl-board {font-size: .95rem; line-height: 1.35; color: var(--fl-ink)}
.fl-board .top, .fl-board .row {display: grid; column-gap: 1.5rem;
  grid-template-columns: 7.7rem minmax(0, 1fr) 16.6rem 9.6rem}
.fl-board .top {color: var(--fl-grey); font-size: .85rem; padding-bottom: .3rem;
  border-bottom: 1px solid var(--fl-line)}
.fl-board .scale {display: grid; grid-template-columns: 1fr 1fr 1fr; margin-right: .7rem}
.fl-board .scale :nth-child(2) {text-align: center}
.fl-board .scale :nth-child(3) {text-align: right}
.fl-board details {border-bottom: 1px solid var(--fl-line)}
.fl-board .row {padding: .42rem 0 .38rem}
.fl-board summary {list-style: none; cursor: pointer}
.fl-board summary::-webkit-details-marker {display: none}
.fl-board summary:hover {background: var(--fl-hover)}
.fl-board summary:focus-visible {outline: 2px solid var(--fl-grey); outline-offset: 2px}
.fl-board .still {border-bottom: 1px solid var(--fl-line)}
.fl-board .word {font-weight: 600; display: flex; align-items: center; gap: .45rem}
.fl-board .mark {flex: none; width: 1.3rem; height: 1.3rem; border-radius: 50%; display: grid; place-items: center;
  font: 700 .85rem/1 "Source Sans", sans-serif; background: currentColor}
.fl-board .mark > span {color: var(--fl-paper)}
.fl-board .fail {color: var(--fl-fail)}
.fl-board .inconclusive {color: var(--fl-inconclusive)}
.fl-board .pass {color: var(--fl-pass)}
.fl-board .not_run, .fl-board .not_asked, .fl-board .waiting {color: var(--fl-none)}
.fl-board .name {font-weight: 600; overflow-wrap: anywhere}
.fl-board .name::after {content: " ▸"; color: var(--fl-grey); font-weight: 400}
.fl-board details[open] .name::after {content: " ▾"}
.fl-board .still .name::after {content: none}
[data-testid=stMain] h2 .stMarkdownColoredText {color: var(--fl-verdict) !important}
.fl-board .small {color: var(--fl-grey); font-size: .85rem; overflow-wrap: anywhere}
.fl-board .brief {display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 1; overflow: hidden}
.fl-board details[open] .brief {-webkit-line-clamp: none}
.fl-board .kind {border: 1px solid var(--fl-line); border-radius: 4px; padding: 0 .3rem; font-size: .78rem;
  white-space: nowrap}
.fl-board .bar {position: relative; height: 1.3rem; margin-right: .7rem}
.fl-board .bar span {position: absolute; display: block}
.fl-board .side {top: .4rem; height: .5rem; width: 50%; left: 0; background: var(--fl-empty)}
.fl-board .side.right {left: 50%}
.fl-board .side.allowed {background: var(--fl-allowed)}
.fl-board .side.forbidden {background: var(--fl-forbidden)}
.fl-board .limit {left: calc(50% - 1px); top: 0; width: 2px; height: 1.3rem; background: var(--fl-ink)}
.fl-board .span {top: .49rem; height: .32rem; background: currentColor}
.fl-board .dot {top: .25rem; width: .8rem; height: .8rem; margin-left: -.4rem; border-radius: 50%;
  background: currentColor; border: 1.5px solid var(--fl-paper); box-sizing: border-box}
.fl-board .beyond {top: .2rem; font-size: 1rem; line-height: .9rem; right: -.8rem}
.fl-board .beyond.left {right: auto; left: -.8rem}
.fl-board .more {padding: .2rem 0 .9rem 9.2rem; font-size: .9rem}
.fl-board .more dl {display: grid; grid-template-columns: 9.5rem minmax(0, 1fr); gap: .3rem 1rem; margin: 0; padding: 0}
.fl-board .more dt {color: var(--fl-grey); font-weight: 400}
.fl-board .more dd {margin: 0; overflow-wrap: anywhere; white-space: pre-line}
.fl-board .rest {color: var(--fl-grey); font-size: .85rem; margin: .5rem 0 0; overflow-wrap: anywhere}
.fl-tested {font-size: .95rem; line-height: 1.35; color: var(--fl-ink)}
.fl-tested .row {display: grid; column-gap: 1.5rem; padding: .42rem 0; border-bottom: 1px solid var(--fl-line);
  grid-template-columns: minmax(0, 1fr) 13rem 13rem 5.5rem}
.fl-tested .top, .fl-tested .small {color: var(--fl-grey); font-size: .85rem}
.fl-tested .name, .fl-tested .word {font-weight: 600; overflow-wrap: anywhere}
.fl-tested .pass {color: var(--fl-pass)}
.fl-tested .fail {color: var(--fl-fail)}
.fl-tested .term {display: none; color: var(--fl-grey)}
@media (max-width: 1000px) {
  .fl-tested .top {display: none}
  .fl-tested .row {grid-template-columns: minmax(0, 1fr); row-gap: .15rem; padding: .7rem 0}
  .fl-tested .term {display: inline}
  .fl-board .top {display: none}
  .fl-board .row {grid-template-columns: minmax(0, 1fr); row-gap: .15rem; padding: .7rem 0}
  .fl-board details[open] .brief, .fl-board .brief {-webkit-line-clamp: none}
  .fl-board .bar {margin: 0 .7rem}
  .fl-board .row > :last-child > :first-child::before {content: "Limit: "; color: var(--fl-grey)}
  .fl-board .more {padding-left: 0}
  .fl-board .more dl {grid-template-columns: minmax(0, 1fr); gap: 0}
  .fl-board .more dd {margin-bottom: .5rem}
}
"""


def style(overall: str = "none") -> str:
    """Return the style sheet for `st.html`, with the colour of the verdict's icon in the finding."""
    palette = shell.palette()
    from core.figures import DARK

    theme = _COLOURS["dark" if palette == DARK else "light"]
    colours = {
        **theme,
        "verdict": theme.get(overall, theme["none"]),
        "ink": palette.ink,
        "paper": palette.background,
        "grey": palette.grey,
    }
    told = "; ".join(f"--fl-{name}: {colour}" for name, colour in colours.items())
    return f"<style>:root {{{told}}}{_STYLE}</style>"
