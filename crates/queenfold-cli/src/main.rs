//! The program `queenfold`.

use std::process::ExitCode;

fn main() -> ExitCode {
    queenfold_cli::main()
}
