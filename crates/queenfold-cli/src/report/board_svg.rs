//! Boards as a drawing in SVG.

use std::fmt::Write;

use queenfold::board::{GivenBoard, Square};

/// The side of a square, and the space between boards.
const SQUARE: u32 = 24;

/// Boards in a line of the drawing.
const IN_LINE: usize = 4;

/// Draws completions of `board`: for each row from the top, the column of its queen. Given queens are red,
/// holes are black. Names of columns stand below, numbers of rows at the left, as in chess. Above each of several boards is
/// its number.
pub fn board_svg(board: &GivenBoard, completions: &[Vec<u8>]) -> String {
    let n = board.size().get();
    let step = (n + 2) * SQUARE;
    let lines = completions.len().div_ceil(IN_LINE) as u32;
    let [width, height] = [
        completions.len().min(IN_LINE) as u32 * step + SQUARE,
        lines * step + SQUARE,
    ];
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-size=\"{}\" text-anchor=\"middle\">\n\
         <style>.name,.number{{font:{}px sans-serif;fill:#555}}.number{{font-weight:bold}}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        SQUARE,
        SQUARE / 2
    );
    let text = |svg: &mut String, (x, y): (u32, u32), look: &str, of: &str| {
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" {look}>{of}</text>");
    };
    for (at, queens) in completions.iter().enumerate() {
        let [left, top] = [at % IN_LINE, at / IN_LINE].map(|place| SQUARE + place as u32 * step);
        if completions.len() > 1 {
            let place = (left + n * SQUARE / 2, top - SQUARE / 4);
            text(&mut svg, place, "class=\"number\"", &(at + 1).to_string());
        }
        // The square at the bottom left has the names of its column and its row.
        for at in 0..n {
            let square = Square::new((n - 1 - at) as u8, at as u8);
            let name = square.name(board.size());
            let (column, row) = name.split_at(name.len() - (at + 1).to_string().len());
            let middle = at * SQUARE + SQUARE / 2;
            let below = (left + middle, top + n * SQUARE + SQUARE * 2 / 3);
            text(&mut svg, below, "class=\"name\"", column);
            let beside = (left - SQUARE / 2, top + n * SQUARE - middle + SQUARE / 6);
            text(&mut svg, beside, "class=\"name\"", row);
        }
        for (row, &queen) in (0..n).zip(queens) {
            for column in 0..n {
                let square = Square::new(row as u8, column as u8);
                let (x, y) = (left + column * SQUARE, top + row * SQUARE);
                // The square at the bottom left is dark, as in chess.
                let fill = match (n - row + column) % 2 {
                    _ if board.holes().contains(square) => "#000",
                    1 => "#b58863",
                    _ => "#f0d9b5",
                };
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{SQUARE}\" height=\"{SQUARE}\" fill=\"{fill}\"/>"
                );
                if u32::from(queen) == column {
                    let look = match board.queens().contains(square) {
                        true => "fill=\"#c00\"",
                        false => "fill=\"#000\"",
                    };
                    let place = (x + SQUARE / 2, y + SQUARE * 7 / 8);
                    text(&mut svg, place, look, "♛");
                }
            }
        }
    }
    svg + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;
    use queenfold::board::Size;

    #[test]
    fn queens_and_holes_are_drawn() {
        let board = GivenBoard::parse(Size::new(4).unwrap(), "b4", "a1").unwrap();
        let svg = board_svg(&board, &[vec![1, 3, 0, 2], vec![1, 3, 0, 2]]);
        let count = |part: &str| svg.matches(part).count();
        assert_eq!((count("♛"), count("#c00"), count("<rect x")), (8, 2, 32));
        assert!(svg.contains("class=\"number\">2</text>"));
        let one = board_svg(&board, &[vec![1, 3, 0, 2]]);
        assert!(!one.contains("class=\"number\""));
        // Each board has the names of its columns and rows.
        assert_eq!(
            (count(">a</text>"), count(">4</text>"), count("\"name\"")),
            (2, 2, 16)
        );
        assert_eq!(count("height=\"24\" fill=\"#000\""), 2);
    }
}
