/// All sets of rows of a half board, numbered within those of the same size in ascending order when
/// read as numbers.
#[derive(Debug)]
pub struct RowSets {
    /// For each set, its number.
    numbers: Vec<u16>,
    /// For each size, the sets.
    sets: Vec<Vec<u32>>,
    /// For each size and each set, the numbers of the sets that lack one of its rows, in the order
    /// of that row.
    without_one: Vec<Vec<u16>>,
}

impl RowSets {
    /// The sets of `rows` rows, at most 16.
    pub fn new(rows: u32) -> Self {
        let sizes = rows as usize + 1;
        let mut new = Self {
            numbers: vec![0; 1 << rows],
            sets: vec![Vec::new(); sizes],
            without_one: vec![Vec::new(); sizes],
        };
        for set in 0..1u32 << rows {
            let size = set.count_ones() as usize;
            new.numbers[set as usize] = new.sets[size].len() as u16;
            new.sets[size].push(set);
            let smaller = crate::board::bits(set).map(|row| new.numbers[(set ^ 1 << row) as usize]);
            new.without_one[size].extend(smaller);
        }
        new
    }

    /// The number of `set` among the sets of its size.
    pub fn number(&self, set: u32) -> usize {
        self.numbers[set as usize].into()
    }

    /// The sets of `size` rows.
    pub fn sets(&self, size: usize) -> &[u32] {
        &self.sets[size]
    }

    /// For each set of `size` rows, the numbers of the sets that lack one of its rows.
    pub fn without_one(&self, size: usize) -> &[u16] {
        &self.without_one[size]
    }
}
