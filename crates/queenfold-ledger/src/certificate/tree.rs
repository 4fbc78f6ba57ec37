//! The Merkle tree of RFC 6962 with SHA-256.

use sha2::{Digest, Sha256};

use crate::ledger::hex;

/// The hashes of complete subtrees from left to right, each with its number of leaves: at most one of
/// each power of two. So a tree of any size takes no memory.
#[derive(Default)]
pub(super) struct Tree(Vec<(u64, [u8; 32])>);

impl Tree {
    /// Adds a leaf.
    pub(super) fn push(&mut self, leaf: &[u8]) {
        let mut new = (1, hash(0, &[leaf]));
        while let Some(&(leaves, left)) = self.0.last()
            && leaves == new.0
        {
            self.0.pop();
            new = (2 * leaves, hash(1, &[&left, &new.1]));
        }
        self.0.push(new);
    }

    /// The root, in hexadecimal. An odd node is joined to what stands left of it.
    pub(super) fn root(&self) -> String {
        let nodes = self.0.iter().rev().map(|node| node.1);
        let root = nodes.reduce(|right, left| hash(1, &[&left, &right]));
        hex(&root.unwrap_or_else(|| Sha256::digest([]).into()))
    }
}

fn hash(kind: u8, parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new_with_prefix([kind]);
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The roots that the implementations of Certificate Transparency test themselves with.
    #[test]
    fn the_root_is_that_of_rfc_6962() {
        let leaves: [&[u8]; 8] = [
            b"",
            b"\0",
            b"\x10",
            b" !",
            b"01",
            b"@ABC",
            b"PQRSTUVW",
            b"`abcdefghijklmno",
        ];
        let root = |count: usize| {
            let mut tree = Tree::default();
            leaves[..count].iter().for_each(|leaf| tree.push(leaf));
            tree.root()
        };
        for (leaves, expected) in [
            (
                0,
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ),
            (
                1,
                "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            ),
            (
                2,
                "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            ),
            (
                3,
                "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            ),
            (
                7,
                "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            ),
            (
                8,
                "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
            ),
        ] {
            assert_eq!(root(leaves), expected);
        }
    }
}
