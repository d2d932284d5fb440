//! What a running build says: bars on a terminal, a line per finished determination elsewhere,
//! events on request.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::Shell;
use crate::stages::News;

/// One running build.
pub(super) struct Progress<'s> {
    shell: &'s Shell,
    bars: Option<MultiProgress>,
    running: Mutex<BTreeMap<String, Running>>,
}

/// One running determination.
struct Running {
    bar: Option<ProgressBar>,
    /// When proving began.
    proving: Option<Instant>,
    /// Every stage came from the store so far.
    kept: bool,
}

impl<'s> Progress<'s> {
    pub(super) fn new(shell: &'s Shell) -> Self {
        let terminal = std::io::stderr().is_terminal() && !shell.quiet && !shell.json;
        Self { shell, bars: terminal.then(MultiProgress::new), running: Mutex::default() }
    }

    pub(super) fn tell(&self, of: &str, stage: &str, news: News<'_>) {
        if self.shell.json {
            self.event(of, stage, news);
            return;
        }
        let Ok(mut running) = self.running.lock() else { return };
        let entry = running.entry(of.to_owned()).or_insert_with(|| Running {
            bar: self.bars.as_ref().map(|bars| bar(bars, of)),
            proving: None,
            kept: true,
        });
        let say = |text: &str| match &self.bars {
            Some(bars) => {
                let _ = bars.println(text);
            }
            None => self.shell.say(text),
        };
        let message = |text: String| {
            if let Some(bar) = &entry.bar {
                bar.set_message(text);
            }
        };
        match news {
            News::Start => message("reading".to_owned()),
            News::Hit(_) => message(format!("{stage} kept")),
            News::Miss(_) => {
                entry.kept = false;
                if stage == "certify" {
                    entry.proving = Some(Instant::now());
                }
                message(stage.to_owned());
            }
            News::Progress(done, wanted) => {
                let spent = entry.proving.map_or(Duration::ZERO, |start| start.elapsed());
                message(format!("{stage} {}", rate(done, wanted, spent)));
            }
            News::Note(text) => say(&format!("note: {of}: {text}")),
            News::End => {
                let how = if entry.kept { "kept" } else { "built" };
                if let Some(entry) = running.remove(of)
                    && let Some(bar) = entry.bar
                {
                    bar.finish_and_clear();
                }
                say(&format!("{how} {of}"));
            }
        }
    }

    fn event(&self, of: &str, stage: &str, news: News<'_>) {
        let mut line = serde_json::json!({
            "kind": "progress", "determination": of, "stage": stage, "reason": "",
        });
        let mut set = |key: &str, value: serde_json::Value| {
            if let Some(line) = line.as_object_mut() {
                line.insert(key.to_owned(), value);
            }
        };
        match news {
            News::Start => set("kind", "start".into()),
            News::Hit(_) => set("kind", "hit".into()),
            News::Miss(miss) => {
                set("kind", "miss".into());
                set("reason", miss.reason().into());
            }
            News::Progress(done, wanted) => {
                set("done", done.into());
                set("wanted", wanted.into());
            }
            News::Note(text) => set("reason", text.into()),
            News::End => set("kind", "end".into()),
        }
        let _ = self.shell.out(&format!("{line}\n"));
    }

    pub(super) fn finish(&self) {
        if let Some(bars) = &self.bars {
            let _ = bars.clear();
        }
    }
}

fn bar(bars: &MultiProgress, of: &str) -> ProgressBar {
    let bar = bars.add(ProgressBar::new_spinner());
    let style = ProgressStyle::with_template("{spinner} {prefix}: {wide_msg} {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.set_prefix(of.to_owned());
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// `40/200 certified, 12/s, 13 s left`: how far, how fast, how long at that pace at most.
fn rate(done: usize, wanted: usize, spent: Duration) -> String {
    let mut text = format!("{done}/{wanted} certified");
    let seconds = spent.as_secs_f64();
    if done > 0 && seconds > 0.0 {
        // Figures for the eye, not for a result.
        let pace = f64::from(u32::try_from(done).unwrap_or(u32::MAX)) / seconds;
        let left = u32::try_from(wanted.saturating_sub(done)).unwrap_or(u32::MAX);
        text += &format!(", {pace:.0}/s, {:.0} s left at most", f64::from(left) / pace);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::rate;
    use std::time::Duration;

    #[test]
    fn the_rate_is_of_what_is_done() {
        assert_eq!(
            rate(50, 200, Duration::from_secs(10)),
            "50/200 certified, 5/s, 30 s left at most"
        );
        assert_eq!(rate(0, 200, Duration::from_secs(10)), "0/200 certified");
    }
}
