//! What a person does with the list, done and timed within the page.

use std::time::Duration;

use fantoccini::Locator;
use serde_json::{Value, json};

use crate::Outcome;
use crate::window::Window;

/// What scrolling came to.
pub(crate) struct Scrolled {
    /// The longest time in which a key would have had to wait, in milliseconds.
    pub(crate) blocked: f64,
    pub(crate) frames: u64,
    pub(crate) slowest_frame: f64,
    pub(crate) most_rows: u64,
}

/// What typing a search came to.
pub(crate) struct Typed {
    pub(crate) blocked: f64,
    /// From the last key to the rows that were found, in milliseconds.
    pub(crate) shown: f64,
}

/// Begins to note the longest gap between two turns of the page: in it no key or click is dealt with.
const WATCH: &str = "
    window.watched = { blocked: 0, over: false };
    let last = performance.now();
    const beat = () => {
        const now = performance.now();
        window.watched.blocked = Math.max(window.watched.blocked, now - last);
        last = now;
        if (!window.watched.over) setTimeout(beat, 0);
    };
    setTimeout(beat, 0);
";

/// Scrolls the whole list in leaps as the bar is dragged, then some of it as by a wheel.
pub(crate) async fn scroll(window: &Window) -> Outcome<Scrolled> {
    let script = format!(
        "const done = arguments[arguments.length - 1];
         const list = document.querySelector('[role=grid]');
         {WATCH}
         const seen = {{ frames: 0, slowestFrame: 0, mostRows: 0 }};
         const LEAPS = 300, STEPS = 300, ROW = 42;
         let at = 0, before = performance.now();
         const frame = (now) => {{
             seen.slowestFrame = Math.max(seen.slowestFrame, now - before);
             before = now;
             seen.frames += 1;
             seen.mostRows = Math.max(seen.mostRows, list.querySelectorAll('[data-testid=job-row]').length);
             at += 1;
             const end = list.scrollHeight - list.clientHeight;
             if (at <= LEAPS) list.scrollTop = end * at / LEAPS;
             else if (at <= LEAPS + STEPS) list.scrollTop -= 3 * ROW;
             else {{
                 window.watched.over = true;
                 done({{ ...seen, blocked: window.watched.blocked, reached: list.scrollTop / end }});
                 return;
             }}
             requestAnimationFrame(frame);
         }};
         requestAnimationFrame(frame);"
    );
    let seen = window.run_long(&script, vec![]).await?;
    if number(&seen, "reached")? < 0.9 {
        return Err(format!("the list was not scrolled to its end: {seen}").into());
    }
    // The last rows are there, not only the room for them.
    settled(
        window,
        "list.querySelectorAll('[data-testid=job-row]').length > 5",
    )
    .await?;
    Ok(Scrolled {
        blocked: number(&seen, "blocked")?,
        frames: number(&seen, "frames")? as u64,
        slowest_frame: number(&seen, "slowestFrame")?,
        most_rows: number(&seen, "mostRows")? as u64,
    })
}

/// Types two words into the search, key by key.
pub(crate) async fn search(window: &Window) -> Outcome<Typed> {
    window.run(WATCH, vec![]).await?;
    let field = window.client().find(Locator::Css("[data-search]")).await?;
    let before = rows(window).await?;
    for key in "mangrove 20".chars() {
        field.send_keys(&key.to_string()).await?;
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
    // From the last key on, within the page.
    window
        .run(
            "const [before] = arguments;
             const field = document.querySelector('[data-search]');
             field.addEventListener('input', () => {
                 const since = performance.now();
                 const list = document.querySelector('[role=grid]');
                 const look = () => {
                     const total = Number(list.getAttribute('aria-rowcount'));
                     if (total !== window.beforeKey && list.getAttribute('aria-busy') !== 'true')
                         window.shownAfter = performance.now() - since;
                     else requestAnimationFrame(look);
                 };
                 requestAnimationFrame(look);
             }, { once: true });
             window.beforeKey = Number(document.querySelector('[role=grid]').getAttribute('aria-rowcount'));",
            vec![],
        )
        .await?;
    tokio::time::sleep(Duration::from_millis(800)).await;
    window
        .run(
            "window.beforeKey = Number(document.querySelector('[role=grid]').getAttribute('aria-rowcount'));",
            vec![],
        )
        .await?;
    field.send_keys("1").await?;
    settled(window, "window.shownAfter !== undefined").await?;
    let seen = window
        .run(
            "window.watched.over = true;
             return { blocked: window.watched.blocked, shown: window.shownAfter };",
            vec![],
        )
        .await?;
    if rows(window).await? >= before {
        return Err("the search did not narrow the list".into());
    }
    field.clear().await?;
    settled(
        window,
        &format!("Number(list.getAttribute('aria-rowcount')) === {before}"),
    )
    .await?;
    Ok(Typed {
        blocked: number(&seen, "blocked")?,
        shown: number(&seen, "shown")?,
    })
}

/// Opens one view after another; returns milliseconds from each press to its rows on the screen.
pub(crate) async fn filters(window: &Window) -> Outcome<Vec<(String, f64)>> {
    // What is listed in each, so that no row of the view before is taken for one of it.
    let views = [
        ("done", vec!["completed"]),
        ("waiting", vec!["pending"]),
        ("needs-review", vec!["needs-review"]),
        ("all", vec![]),
        ("done", vec!["completed"]),
        ("all", vec![]),
    ];
    let mut took = Vec::new();
    for (view, statuses) in views {
        let seen = window
            .run_long(
                "const [view, statuses, done] = arguments;
                 const before = document.querySelector('[role=grid]').getAttribute('aria-rowcount');
                 const since = performance.now();
                 document.querySelector(`[data-testid=view-${view}]`).click();
                 const look = () => {
                     const list = document.querySelector('[role=grid]');
                     const rows = [...list.querySelectorAll('[data-testid=job-row]')];
                     const shown = rows.length > 5 && list.getAttribute('aria-busy') !== 'true'
                         && list.getAttribute('aria-rowcount') !== before
                         && (statuses.length === 0 || rows.every((row) => statuses.includes(row.dataset.status)));
                     // A turn after the frame: the rows are painted then.
                     if (shown) requestAnimationFrame(() => setTimeout(() => done(performance.now() - since)));
                     else if (performance.now() - since > 20000) done(null);
                     else requestAnimationFrame(look);
                 };
                 requestAnimationFrame(look);",
                vec![json!(view), json!(statuses)],
            )
            .await?;
        let milliseconds = seen
            .as_f64()
            .ok_or(format!("the view {view} did not appear"))?;
        took.push((view.to_owned(), milliseconds));
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    Ok(took)
}

/// Returns how many rows the list says that it has.
async fn rows(window: &Window) -> Outcome<u64> {
    let script =
        "return Number(document.querySelector('[role=grid]').getAttribute('aria-rowcount'))";
    Ok(window
        .run(script, vec![])
        .await?
        .as_f64()
        .ok_or("no list")? as u64)
}

/// Waits until a condition over `list` holds.
async fn settled(window: &Window, condition: &str) -> Outcome<()> {
    let script = format!("const list = document.querySelector('[role=grid]'); return {condition};");
    for _ in 0..400 {
        if window.run(&script, vec![]).await? == json!(true) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    Err(format!("waited for nothing: {condition}").into())
}

fn number(value: &Value, name: &str) -> Outcome<f64> {
    Ok(value[name]
        .as_f64()
        .ok_or(format!("no {name} in {value}"))?)
}
