//! How results and runs are printed: as tables, as lines for people, as JSON.

pub mod array_report;
pub mod board_result;
pub mod count_report;
pub mod host_lines;
pub mod result_json;
pub mod result_table;
pub mod run_status;
pub mod shard_moments;
pub mod status_text;
