use super::Partition;

/// The number of ways to complete a partition: both lists of half boards, every pair tested. For
/// small boards; what everything else here is checked against.
pub fn completions(partition: &Partition) -> u64 {
    let [top, bottom] = [&partition.top, &partition.bottom].map(|half| {
        let mut keys = Vec::new();
        half.each_key(&mut |key| keys.push(key));
        keys
    });
    top.iter()
        .map(|key| bottom.iter().filter(|other| key & **other == 0).count() as u64)
        .sum()
}
