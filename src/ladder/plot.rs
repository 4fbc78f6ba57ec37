pub fn plot() {}
