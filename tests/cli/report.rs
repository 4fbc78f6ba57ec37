//! The report of a run as a page, and as JSON.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::isolated::isolated;
use crate::program::{output, stdout, text};
use crate::skip::skipped;

/// The page of the run in `dir`.
fn page(dir: &Path) -> String {
    let file = dir.with_extension("html");
    stdout(&[
        "report",
        dir.to_str().unwrap(),
        "-o",
        file.to_str().unwrap(),
    ]);
    fs::read_to_string(&file).unwrap()
}

/// A page loads nothing and runs nothing.
fn assert_alone(page: &str) {
    for foreign in [
        "<script",
        "http:",
        "https:",
        "src=",
        "url(",
        "@import",
        "javascript:",
    ] {
        let known = ["http://www.w3.org/2000/svg"];
        let rest = known
            .iter()
            .fold(page.to_owned(), |page, known| page.replace(known, ""));
        assert!(!rest.contains(foreign), "{foreign}");
    }
}

#[test]
fn a_finished_run_is_shown_with_its_result_and_its_drawings() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("n16");
    stdout(&[
        "run",
        "-n",
        "16",
        "--dir",
        dir.to_str().unwrap(),
        "--workers",
        "2",
    ]);
    let html = page(&dir);
    // Lanes stand in the order of workers.
    let lanes = ["worker-0", "worker-1"].map(|worker| html.find(&format!(">\n{worker}\n<")));
    assert!(lanes.is_sorted(), "{lanes:?}");
    for part in [
        "14,772,512",
        "1,846,955",
        "the total equals the published one",
        "Who counted when",
        "worker-1",
        "Expected and real cost",
        "workers = 2 ",
        "# flag --workers",
        "queenfold run -n 16 --engine",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(html.matches("<svg").count() >= 3);
    assert_alone(&html);
    let export = stdout(&["export", dir.to_str().unwrap()]);
    let last: Json = serde_json::from_str(export.lines().last().unwrap()).unwrap();
    assert!(html.contains(last["signature"].as_str().unwrap()));

    let record = stdout(&["report", dir.to_str().unwrap(), "--json"]);
    let record: Json = serde_json::from_str(&record).unwrap();
    assert_eq!(record["result"]["total"], "14772512");
    assert_eq!(record["result"]["classes"]["c2"], "32");
    assert_eq!(record["signature"], last["signature"]);
    let row = record["record"].as_str().unwrap();
    assert!(row.starts_with("| 16 | known | "), "{row}");
    let table = fs::read_to_string("docs/RECORDS.md").unwrap();
    let columns = table
        .lines()
        .find(|line| line.starts_with("| n | total |"))
        .unwrap();
    assert_eq!(row.matches('|').count(), columns.matches('|').count());
}

#[test]
fn a_run_that_is_not_finished_says_how_to_go_on_and_gives_no_total() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("n 24");
    let stopped = output(&[
        "run",
        "-n",
        "24",
        "--time-limit",
        "2",
        "--dir",
        dir.to_str().unwrap(),
    ]);
    assert_eq!(stopped.status.code(), Some(4));
    let html = page(&dir);
    assert!(
        html.contains("The run is stopped, and there is no total yet"),
        "{html}"
    );
    assert!(html.contains("queenfold resume"), "{html}");
    assert_alone(&html);
    let printed = stdout(&["report", dir.to_str().unwrap(), "-o", "-"]);
    assert!(printed.starts_with("<!DOCTYPE html>") && printed.ends_with("</html>\n"));
    let json: Json =
        serde_json::from_str(&stdout(&["report", dir.to_str().unwrap(), "--json"])).unwrap();
    assert_eq!(
        (&json["total"], &json["record"]),
        (&Json::Null, &Json::Null)
    );
}

#[test]
fn a_page_that_cannot_be_written_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("n8");
    stdout(&["run", "-n", "8", "--dir", dir.to_str().unwrap()]);
    let failed = output(&[
        "report",
        dir.to_str().unwrap(),
        "-o",
        "no/such/folder/report.html",
    ]);
    assert_eq!(failed.status.code(), Some(1));
    let said = text(&failed.stderr);
    assert!(
        said.contains("report no/such/folder/report.html: "),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// The example in docs/ and a page of now, as a browser shows them: nothing in its console, and drawings with
/// a size.
#[test]
fn a_browser_shows_the_page_without_complaint() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("n14");
    stdout(&["run", "-n", "14", "--dir", dir.to_str().unwrap()]);
    page(&dir);
    let example = fs::canonicalize("docs/report-n20.html").unwrap();
    assert_alone(&fs::read_to_string(&example).unwrap());
    for file in [dir.with_extension("html"), example] {
        let shown = isolated("chromium")
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .args(["--enable-logging=stderr", "--log-level=0", "--dump-dom"])
            .arg(format!(
                "--user-data-dir={}",
                folder.path().join("browser").display()
            ))
            .arg(format!("file://{}", file.display()))
            .output();
        // A browser that does not start is as good as none.
        let shown = shown.ok().filter(|shown| shown.status.success());
        let Some(shown) = shown else {
            skipped("there is no chromium to show a report");
            return;
        };
        let (dom, log) = (text(&shown.stdout), text(&shown.stderr));
        assert!(dom.contains("</html>"), "{log}");
        let complaints: Vec<_> = log
            .lines()
            .filter(|line| line.contains("CONSOLE"))
            .collect();
        assert!(complaints.is_empty(), "{complaints:#?}");
    }
}
