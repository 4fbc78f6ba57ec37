//! Who answers for a session: what counts as one when a task is to be counted by two.

/// Users of a NATS server that several hosts may share: its name tells nothing.
const SHARED: [&str; 2] = ["any", "worker"];

/// Who answers for the session of this id, of a process that says that it runs on `host`. That is the user of the
/// server, which the server has checked, if each host has one; otherwise the host, as it calls itself.
pub fn party(session: &str, host: &str) -> String {
    match session.split_once('.') {
        Some((user, _)) if !SHARED.contains(&user) => format!("user {user}"),
        _ => format!("host {host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_a_user_of_its_own_has_no_other_name() {
        assert_eq!(party("anna.0a1b", "one"), "user anna");
        assert_eq!(party("anna.0a1b", "two"), "user anna");
        for session in ["any.0a1b", "worker.0a1b", "0a1b"] {
            assert_eq!(party(session, "one"), "host one", "{session}");
        }
        // No host can call itself a user.
        assert_ne!(party("anna.0a1b", "one"), party("any.0a1b", "user anna"));
    }
}
