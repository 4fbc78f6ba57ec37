//! Which files of the library use which: read from the source text, without a compiler.
//!
//! A path that starts with `crate`, `super`, `self`, a child module or an imported name is followed
//! through re-exports to the file that defines the item. Comments, test modules and paths into other
//! crates are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The segments of a path below the crate, such as `["colour", "side"]`.
type Segments = Vec<String>;

/// What a module declares.
#[derive(Default)]
struct Module {
    file: String,
    /// Functions, types, constants and macros.
    items: BTreeSet<String>,
    /// Names that `use` brings in, with their paths as written.
    imports: BTreeMap<String, Segments>,
    /// Paths of `use path::*`.
    globs: Vec<Segments>,
}

/// A path that the code of a module names.
struct Mention {
    module: Segments,
    path: Segments,
    is_import: bool,
}

/// The modules of a library and the paths they name.
#[derive(Default)]
pub struct Library {
    modules: BTreeMap<Segments, Module>,
    /// Modules that are compiled only for tests, in files of their own.
    test_modules: BTreeSet<Segments>,
    mentions: Vec<Mention>,
}

/// `from` uses `item`, which `to` defines. Files are relative to the root of the sources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    pub from: String,
    pub to: String,
    pub item: String,
}

/// The folders of the sources, the lowest crate first.
pub fn source_roots() -> [PathBuf; 3] {
    [
        "crates/queenfold-engines/src",
        "crates/queenfold-ladder/src",
        "src",
    ]
    .map(|root| Path::new(env!("CARGO_MANIFEST_DIR")).join(root))
}

/// Every Rust file below `folder`.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.append(&mut rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The lines of a source text without its comments and without its test module, which is the last item.
pub fn production(text: &str) -> impl Iterator<Item = &str> {
    let before_tests = text.split("#[cfg(test)]\nmod tests {").next();
    let lines = before_tests.unwrap_or_default().lines();
    lines.map(|line| line.split("//").next().unwrap_or_default())
}

/// Splits a text into names, `::` and single characters.
fn tokens(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_in_name = false;
    for sign in production(text).flat_map(|line| line.chars().chain(['\n'])) {
        let is_name = sign.is_alphanumeric() || sign == '_';
        match found.last_mut() {
            Some(last) if is_name && is_in_name => last.push(sign),
            Some(last) if sign == ':' && last == ":" => last.push(sign),
            _ if sign.is_whitespace() => {}
            _ => found.push(sign.to_string()),
        }
        is_in_name = is_name;
    }
    found
}

fn is_name(token: &str) -> bool {
    token.starts_with(|sign: char| sign.is_alphabetic() || sign == '_')
}

/// The path that starts at `at`, and where it ends.
fn path_at(tokens: &[String], mut at: usize) -> (Segments, usize) {
    let mut path = vec![tokens[at].clone()];
    while tokens.get(at + 1).is_some_and(|token| token == "::")
        && tokens.get(at + 2).is_some_and(|token| is_name(token))
    {
        path.push(tokens[at + 2].clone());
        at += 2;
    }
    (path, at + 1)
}

/// Reads the tree after `use`: each leaf is a path and its local name, `*` for a glob.
fn use_tree(
    tokens: &[String],
    mut at: usize,
    prefix: &[String],
    leaves: &mut Vec<(Segments, String)>,
) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match tokens.get(at).map(String::as_str) {
            Some("::") => at += 1,
            Some("{") => {
                at += 1;
                while tokens.get(at).is_some_and(|token| token != "}") {
                    at = use_tree(tokens, at, &path, leaves);
                    if tokens.get(at).is_some_and(|token| token == ",") {
                        at += 1;
                    }
                }
                return at + 1;
            }
            Some("*") => {
                leaves.push((path, "*".to_owned()));
                return at + 1;
            }
            Some("as") => {
                leaves.push((path, tokens[at + 1].clone()));
                return at + 2;
            }
            Some("self") if !path.is_empty() => at += 1,
            Some(token) if is_name(token) => {
                path.push(token.to_owned());
                at += 1;
            }
            _ => {
                let name = path.last().cloned().unwrap_or_default();
                leaves.push((path, name));
                return at.max(1);
            }
        }
    }
}

impl Library {
    pub fn read(root: &Path) -> Self {
        let mut library = Self::default();
        for file in rust_files(root) {
            let inside = file.strip_prefix(root).expect("below the root");
            let text = fs::read_to_string(&file).expect("a source file");
            library.add(&inside.to_string_lossy(), &text);
        }
        library
    }

    /// Reads one file, whose name is relative to the root of the sources.
    pub fn add(&mut self, file: &str, text: &str) {
        let stem = file.strip_suffix(".rs").unwrap_or(file);
        let mut module: Segments = stem.split('/').map(str::to_owned).collect();
        module.pop_if(|last| last == "mod" || last == "lib" || last == "main");
        self.module(&module, file);
        // Inline modules, with the depth of the braces around them.
        let mut inline: Vec<usize> = Vec::new();
        let mut depth = 0;
        let tokens = tokens(text);
        let test_attribute = ["#", "[", "cfg", "(", "test", ")", "]"].map(str::to_owned);
        let mut at = 0;
        while at < tokens.len() {
            let before = at.checked_sub(1).map_or("", |before| &tokens[before]);
            let next = tokens.get(at + 1).map_or("", String::as_str);
            let own_depth = inline.last().map_or(0, |outer| outer + 1);
            match tokens[at].as_str() {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if inline.last() == Some(&depth) {
                        inline.pop();
                        module.pop();
                    }
                }
                "mod" if is_name(next) && tokens.get(at + 2).is_some_and(|token| token == "{") => {
                    module.push(next.to_owned());
                    self.module(&module, file);
                    inline.push(depth);
                    at += 1;
                }
                "mod" if is_name(next) && tokens[..at].ends_with(&test_attribute) => {
                    let mut declared = module.clone();
                    declared.push(next.to_owned());
                    self.test_modules.insert(declared);
                }
                "use" if is_name(next) || next == "::" || next == "{" => {
                    let mut leaves = Vec::new();
                    at = use_tree(&tokens, at + 1, &[], &mut leaves) - 1;
                    // `pub use` and `pub(crate) use` pass a name on; they do not need it.
                    let is_export = before == "pub" || before == ")";
                    for (path, name) in leaves {
                        self.import(&module, path, name, is_export);
                    }
                }
                "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union"
                    if depth == own_depth && is_name(next) =>
                {
                    self.module(&module, file).items.insert(next.to_owned());
                    at += 1;
                }
                "macro_rules" => {
                    let name = tokens[at + 2].clone();
                    self.module(&module, file).items.insert(name);
                    at += 2;
                }
                token if is_name(token) && before != "::" && before != "." && next == "::" => {
                    let (path, end) = path_at(&tokens, at);
                    self.mentions.push(Mention {
                        module: module.clone(),
                        path,
                        is_import: false,
                    });
                    at = end - 1;
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn module(&mut self, path: &[String], file: &str) -> &mut Module {
        let module = self.modules.entry(path.to_vec()).or_default();
        module.file = file.to_owned();
        module
    }

    fn import(&mut self, module: &Segments, path: Segments, name: String, is_export: bool) {
        let declared = self.modules.get_mut(module).expect("it is being read");
        if name == "*" {
            declared.globs.push(path.clone());
        } else {
            declared.imports.insert(name, path.clone());
        }
        if !is_export {
            self.mentions.push(Mention {
                module: module.clone(),
                path,
                is_import: true,
            });
        }
    }

    /// The absolute path in the crate; `None` if it leads into another crate.
    fn absolute(&self, module: &Segments, path: &[String]) -> Option<Segments> {
        let (first, rest) = path.split_first()?;
        let mut found = module.clone();
        match first.as_str() {
            "crate" => found.clear(),
            "self" => {}
            "super" => {
                found.pop();
            }
            name => {
                let mut child = module.clone();
                child.push(name.to_owned());
                if self.modules.contains_key(&child) {
                    found = child;
                } else {
                    let import = self.modules.get(module)?.imports.get(name)?;
                    if import.first() == Some(first) {
                        return None;
                    }
                    found = self.absolute(module, import)?;
                }
            }
        }
        let mut rest = rest;
        while let Some((first, after)) = rest.split_first()
            && first == "super"
        {
            found.pop();
            rest = after;
        }
        found.extend_from_slice(rest);
        Some(found)
    }

    /// The file that defines the item of an absolute path, and whether the item is a whole module.
    fn definition(&self, path: &[String], patience: u32) -> Option<(String, bool)> {
        let mut at = Segments::new();
        for (place, segment) in path.iter().enumerate() {
            let mut deeper = at.clone();
            deeper.push(segment.clone());
            if self.modules.contains_key(&deeper) {
                at = deeper;
                continue;
            }
            let module = self.modules.get(&at)?;
            let rest = &path[place + 1..];
            if !module.items.contains(segment) && patience > 0 {
                let import = module.imports.get(segment).cloned();
                let from_globs = module.globs.iter().map(|glob| {
                    let mut path = glob.clone();
                    path.push(segment.clone());
                    path
                });
                for mut candidate in import.into_iter().chain(from_globs) {
                    candidate.extend_from_slice(rest);
                    if let Some(path) = self.absolute(&at, &candidate)
                        && let Some(found) = self.definition(&path, patience - 1)
                    {
                        return Some(found);
                    }
                }
            }
            return Some((module.file.clone(), false));
        }
        Some((self.modules.get(&at)?.file.clone(), true))
    }

    /// What the files of each room use of other files of the same room.
    pub fn uses_inside_rooms(&self) -> BTreeSet<Use> {
        let mut found = BTreeSet::new();
        let is_test = |module: &Segments| {
            let mut tests = self.test_modules.iter();
            tests.any(|test| module.starts_with(test))
        };
        for mention in &self.mentions {
            if is_test(&mention.module) {
                continue;
            }
            let from = &self.modules[&mention.module].file;
            let Some(path) = self.absolute(&mention.module, &mention.path) else {
                continue;
            };
            let Some((to, is_module)) = self.definition(&path, 8) else {
                continue;
            };
            // An imported module is used where a path goes through it.
            let is_inside = room(from) == room(&to) && *from != to;
            if is_inside && !(is_module && mention.is_import) {
                found.insert(Use {
                    from: from.clone(),
                    to,
                    item: path.last().cloned().unwrap_or_default(),
                });
            }
        }
        found
    }
}

/// The room of a file: the first part of its path.
fn room(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap_or_default()
}

/// The uses that are part of a cycle: a chain of uses leads from their target back to their origin.
pub fn on_circles(uses: &BTreeSet<Use>) -> Vec<&Use> {
    let reached = |start: &str| {
        let mut seen = BTreeSet::from([start.to_owned()]);
        let mut open = vec![start.to_owned()];
        while let Some(file) = open.pop() {
            for next in uses.iter().filter(|next| next.from == file) {
                if seen.insert(next.to.clone()) {
                    open.push(next.to.clone());
                }
            }
        }
        seen
    };
    uses.iter()
        .filter(|one| reached(&one.to).contains(&one.from))
        .collect()
}
