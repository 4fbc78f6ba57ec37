pub use cpu_time::ThreadTime as ThreadClock;
