//! Watches a job from another thread, and could stop it: `cargo run --release --example watch 18`.

use std::thread;
use std::time::Duration;

use queenfold::actors::Control;
use queenfold::board::Size;
use queenfold::job::Job;
use queenfold::telemetry::progress_line;

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let n = std::env::args().nth(1).map_or(Ok(12), |n| n.parse())?;
    let control = Control::new();
    let job = Job::new(Size::new(n)?).control(&control);
    let counting = thread::spawn(move || job.run());
    while !counting.is_finished() {
        println!("{}", progress_line(&control.progress()));
        thread::sleep(Duration::from_millis(200));
    }
    let result = counting.join().map_err(|_| "the job panicked")??;
    println!("{} solutions", result.outcome.total);
    Ok(())
}
