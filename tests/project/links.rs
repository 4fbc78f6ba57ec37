//! Every link of a page leads to a file, and every anchor to a heading.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// The pages, as paths from the root. A page of the lab book is never edited again, so its links may die.
fn pages() -> Vec<PathBuf> {
    let folders = ["", "docs", "python"].map(|folder| Path::new(crate::common::ROOT).join(folder));
    let mut pages: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    pages.push(folders[1].join("lab/README.md"));
    pages
}

/// The lines outside of code blocks.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    page.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        inside ^= is_fence;
        !inside && !is_fence
    })
}

/// The anchors of the headings, as GitHub makes them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose(page).filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let text = line.trim_start_matches('#').trim().to_lowercase();
            let kept = text.chars().filter_map(|c| match c {
                ' ' => Some('-'),
                _ => (c.is_alphanumeric() || c == '-' || c == '_').then_some(c),
            });
            let name: String = kept.collect();
            let before = seen.entry(name.clone()).or_default();
            *before += 1;
            match *before {
                1 => name,
                more => format!("{name}-{}", more - 1),
            }
        })
        .collect()
}

/// The links of a page that lead to nothing, of how many.
fn dead_links(path: &Path, page: &str) -> (Vec<String>, usize) {
    let link = Regex::new(r"\]\(([^) ]+)\)").unwrap();
    let links = prose(page).flat_map(|line| link.captures_iter(line));
    let links: Vec<&str> = links
        .map(|found| found.get(1).unwrap().as_str())
        .filter(|link| !link.contains("://"))
        .collect();
    let dead = links.iter().filter(|link| {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = path.with_file_name(file);
        let has_anchor = || match file {
            "" => anchors(page).contains(anchor),
            _ => fs::read_to_string(&target).is_ok_and(|text| anchors(&text).contains(anchor)),
        };
        !(file.is_empty() || target.exists()) || !(anchor.is_empty() || has_anchor())
    });
    (dead.map(|link| (*link).to_owned()).collect(), links.len())
}

#[test]
fn every_link_leads_to_a_file_and_every_anchor_to_a_heading() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let (dead, links) = dead_links(&path, &page);
        checked += links;
        wrong.extend(
            dead.iter()
                .map(|link| format!("{}: {link}", path.display())),
        );
    }
    assert!(wrong.is_empty(), "dead links:\n{}", wrong.join("\n"));
    assert!(checked > 150, "only {checked} links found");
}

#[test]
fn a_dead_link_is_found() {
    let readme = Path::new(crate::common::ROOT).join("README.md");
    let page = "# A page: of `x`, and *y*\n## Twice\n## Twice\n```\n# no heading\n[no](link)\n```\n\
                [1](#a-page-of-x-and-y) [2](#twice-1) [3](docs) [4](https://example.org/x)\n\
                [5](#twice-2) [6](nowhere.md) [7](#no-heading) [8](docs#x)\n";
    let dead = ["#twice-2", "nowhere.md", "#no-heading", "docs#x"];
    assert_eq!(
        dead_links(&readme, page),
        (dead.map(str::to_owned).to_vec(), 7)
    );
}
