//! The help of flags that set a key of the configuration: what the setting itself says.

use crate::config::{Config, Setting};

/// The help of the flag that sets `key`.
pub fn help(key: &str) -> String {
    let setting = Config::settings().find(|setting| setting.key == key);
    setting.map(Setting::help).unwrap_or_default()
}

/// The same, with the flag that takes it back.
pub fn help_of_switch(key: &str) -> String {
    let flag = key.split('.').next_back().unwrap_or_default();
    format!("{}; `--no-{flag}` does not", help(key))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    /// A key that is mistyped would have no help.
    #[test]
    fn every_flag_of_run_has_a_help() {
        let program = crate::commands::Cli::command();
        let run = program.find_subcommand("run").unwrap();
        for flag in run.get_arguments().filter(|flag| !flag.is_hide_set()) {
            let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(
                help.split_whitespace().count() > 1 && !help.starts_with(';'),
                "{flag}: {help}"
            );
        }
    }
}
