// The first rows of a colour, in the colour kernel: its own rows, and of the rows left those that the levels do not fill.
// They have few placements, so each lane searches some of them by itself, depth first. What it finds becomes nodes of the
// highest level.

#pragma once

#include "colour_levels.h"

// A row: how far diagonals by column - row and by column + row are shifted to become its squares, five bits each;
// and from bit 16 on the squares on which queens may stand.
QF_INLINE u32 falling_of(u32 row) { return row & 31u; }
QF_INLINE u32 rising_of(u32 row) { return row >> 5 & 31u; }
QF_INLINE u32 open_of(u32 row) { return row >> 16; }

/// The squares of a row that no diagonal takes.
QF_INLINE u32 free_squares(u32 row, u32 falling, u32 rising) {
    return open_of(row) & ~(falling >> falling_of(row) | rising >> rising_of(row));
}

/// The fewest rows of a beginning, whose queens are chosen before a lane searches.
#define QF_BEGINNING 2u

/// Beginnings for each warp of a block: as many as that, where there are so many. With fewer, lanes wait for each other
/// at the end; more gain nothing.
#define QF_BEGINNINGS 48u

/// Numbers below this have a reciprocal: a colour has fewer own rows.
#define QF_RECIPROCALS 16u

/// The 2³²nd part of a number, rounded up, for `part_of`. That of 1 is 0.
QF_INLINE u32 reciprocal(u32 number) { return 0xffffffffu / number + 1u; }

/// number / divisor, rounded down, by the divisor's reciprocal. Exact while their product is below 2³²; 0 for 1.
QF_INLINE u32 part_of(u32 number, u32 reciprocal) { return high_product(number, reciprocal); }

/// The rows of a colour, and where its placements on own rows come from. The same for all lanes, but for `places`.
struct ColourRows {
    /// Own rows, then those left, and where the rows of the levels begin.
    const u32 *all, *of_levels;
    /// How many are own rows, how many are searched, and how many the levels fill.
    u32 own_count, searched, level_count;
    /// The own columns of each unit (second colour) or of the board, the other columns of the board, and how many these are.
    const u32 *units;
    u32 all_own, all_others, others;
    /// The rows of a beginning.
    u32 begun;
    /// The beginnings of a unit, its reciprocal, and those of all units.
    u32 of_unit, reciprocal_of_unit, beginnings;
    /// The reciprocals of small numbers.
    const u32 *reciprocals;
    /// How many beginnings are taken, and twice the number of warps.
    u32 *taken;
    u32 parts;
    /// Where the lane keeps the squares to try of row number QF_BEGINNING.
    Place places;
};

/// A lane's search for placements on the rows that are searched, from a beginning.
struct ColourSource {
    /// The columns left to take, others from bit QF_OTHERS on; and the diagonals taken.
    u32 left, falling, rising;
    /// The row whose queen is placed next or moved; QF_NOWHERE without a beginning.
    u32 row;
    /// The first row of the search.
    u32 first_row;
    u32 unit;
    /// Whether all of these rows are filled. The search waits until there is room for the placement.
    bool is_full;
    /// The diagonals of a placement found before, with its unit; none if the second word is 0. And the other columns left.
    u32 found, found_rising, found_others;
};
#define QF_NOWHERE 0xffu

/// Whether it needs a beginning.
QF_INLINE bool is_idle(const ColourSource &source) { return source.row == QF_NOWHERE && !source.is_full; }

/// Whether it can go on.
QF_INLINE bool is_searching(const ColourSource &source) { return source.row != QF_NOWHERE && !source.is_full; }

/// Where the number of a unit begins in a word with diagonals. The largest board of a variant has one more of them, that
/// of a corner, which attacks nothing.
#define QF_UNIT (QF_COUNTERS > 8192u ? 30u : 28u)

/// The diagonals in a word with a unit.
QF_INLINE u32 diagonals_of(u32 word) { return word & ((1u << QF_UNIT) - 1u); }

/// The columns of one kind, at most, and where others begin in a word with own ones.
#define QF_MOST_COLUMNS 15u
#define QF_COLUMNS ((1u << QF_MOST_COLUMNS) - 1u)
#define QF_OTHERS 16u

/// Where the columns of a row begin there: own rows are on own ones.
QF_INLINE u32 columns_of(const ColourRows &rows, u32 row) { return row < rows.own_count ? 0u : QF_OTHERS; }

QF_INLINE u32 free_squares(const ColourSource &source, u32 row, u32 columns) {
    return source.left >> columns & free_squares(row, source.falling, source.rising);
}

QF_INLINE void turn(ColourSource &source, u32 row, u32 queen, u32 columns) {
    source.left ^= queen << columns;
    source.falling ^= queen << falling_of(row);
    source.rising ^= queen << rising_of(row);
}

/// Bit number `index` of those that are set in a word.
QF_INLINE u32 bit_number(u32 word, u32 index) {
    QF_ONE_BY_ONE
    for (; index > 0; index--)
        word &= word - 1u;
    return lowest_bit(word);
}

/// Where a lane keeps the squares that it still has to try in a row, the first one under its queen.
QF_INLINE Place squares_of(const ColourRows &rows, u32 row) {
    return rows.places + 2u * QF_LANES * (row - QF_BEGINNING);
}

/// The mark of a row in which the search has no queen yet: no square, for there are 15 columns at most.
#define QF_FRESH 0x8000u

/// Of these squares, the one under the row's queen; 0 before it has one.
QF_INLINE u32 queen_of(u32 squares) { return squares & QF_FRESH ? 0u : lowest_bit(squares); }

/// Of these squares, those that are still to be tried.
QF_INLINE u32 untried(u32 squares) { return (squares & ~QF_FRESH) ^ queen_of(squares); }

/// Goes down to a row, if it has a free square.
QF_INLINE void go_down(ColourSource &source, const ColourRows &rows, u32 row) {
    const u32 free = free_squares(source, rows.all[row], columns_of(rows, row));
    if (free == 0)
        return;
    source.row = row;
    set_half(squares_of(rows, row), free | QF_FRESH);
}

/// Begins with the columns `number` of those left. Returns whether the rows that are searched are filled by it.
QF_INLINE bool begin(ColourSource &source, const ColourRows &rows, u32 number) {
    source.falling = source.rising = 0;
    QF_ONE_BY_ONE
    for (u32 row = 0; row < rows.begun; row++) {
        const u32 choices = rows.own_count - row, next = part_of(number, rows.reciprocals[choices]);
        const u32 queen = bit_number(source.left & QF_COLUMNS, number - next * choices);
        if (!(queen & free_squares(source, rows.all[row], 0)))
            return false;
        turn(source, rows.all[row], queen, 0);
        number = next;
    }
    if (rows.searched == rows.begun)
        return true;
    go_down(source, rows, rows.begun);
    return false;
}

/// One step of the search: the queen of the row moves to its next square, or leaves. Returns whether all rows that are
/// searched are filled then.
QF_INLINE bool go_on(ColourSource &source, const ColourRows &rows) {
    const Place place = squares_of(rows, source.row);
    const u32 squares = half_at(place), free = untried(squares), next = lowest_bit(free);
    turn(source, rows.all[source.row], queen_of(squares) ^ next, columns_of(rows, source.row));
    if (next == 0) {
        source.row = source.row == source.first_row ? QF_NOWHERE : source.row - 1u;
        return false;
    }
    set_half(place, free);
    if (source.row + 1u == rows.searched)
        return true;
    go_down(source, rows, source.row + 1u);
    return false;
}

/// Gives `idle` lanes, by their bits, a beginning each. Returns whether there are more.
template <bool IsSecond>
QF_INLINE bool take_beginnings(ColourSource &source, const ColourRows &rows, u32 idle) {
    u32 first = 0, some = 0;
    if (lanes_below() == 0) {
        // Fewer and fewer, so that all warps end together.
        const u32 taken = smaller(number_in(rows.taken), rows.beginnings);
        some = smaller(bits_of(idle), (rows.beginnings - taken) / rows.parts + 1u);
        first = add_in_block(rows.taken, some);
    }
    first = of_first_lane(first);
    some = of_first_lane(some);
    const u32 own_number = bits_of(idle & lanes_below()), number = first + own_number;
    if (is_idle(source) && own_number < some && number < rows.beginnings) {
        source.unit = rows.of_unit == 1u ? number : part_of(number, rows.reciprocal_of_unit);
        source.left = rows.units[source.unit];
        if (!IsSecond)
            source.left ^= rows.all_own;
        source.left |= rows.all_others << QF_OTHERS;
        source.first_row = rows.begun;
        source.is_full = begin(source, rows, number - source.unit * rows.of_unit);
    }
    return vote(first + some < rows.beginnings) != 0;
}

/// Makes nodes of what the lanes found, and adds those that live to a buffer that begins there and has so much room.
/// `waiting` of them are there before.
template <bool IsSecond>
QF_INLINE void hand_over(ColourSource &source, const ColourRows &rows, Place buffer, u32 room, u32 &waiting,
                         u32 &placements) {
    const u32 falling = diagonals_of(source.found), rising = source.found_rising, others = source.found_others;
    bool alive = rising != 0;
    u32 free[QF_TOP + 1u];
    QF_UNROLL
    for (u32 row = 0; row <= QF_TOP; row++) {
        free[row] = 0;
        if (row < rows.level_count) {
            free[row] = others & free_squares(rows.of_levels[row], falling, rising);
            alive = alive && free[row] != 0;
        }
    }
    // Elsewhere the level of two rows counts them.
    if (rows.level_count == 1u && alive)
        placements += bits_of(free[0]);
    const u32 living = vote(alive);
    const Place to = buffer + 4u * (waiting + bits_of(living & lanes_below()));
    const u32 columns = source.found >> QF_UNIT << rows.others | (IsSecond ? others : others ^ rows.all_others);
    set_word_if(alive, to, columns | free[0] << QF_BASE);
    QF_UNROLL
    for (u32 row = 1; row < QF_TOP; row += 2u)
        if (row < rows.level_count) {
            const bool is_alone = row + 1u == rows.level_count;
            const u32 word = is_alone ? free[row] << 16 : free[row + 1u] << 16 | free[row];
            set_word_if(alive, to + 4u * ((row + 1u) / 2u * room), word);
        }
    source.found_rising = 0;
    waiting += bits_of(living);
    meet_warp();
}

/// Where two bits of the number of a row begin, in a word with own columns left and squares of the row, and the next two in
/// a word with diagonals.
#define QF_ROW 30u

/// Lets `idle` lanes, by their bits, search what others would come to later (work sharing). A lane that has several squares
/// to try in an own row gives all but the next one, unless it is in the last row. A lane takes them as a search of its own.
/// They go through a buffer that begins there, for nodes of three words or more, of which it has so much room.
QF_INLINE void share(ColourSource &source, const ColourRows &rows, Place buffer, u32 room, u32 idle) {
    u32 squares = 0, given = 0;
    if (is_searching(source) && source.row < smaller(rows.own_count, rows.searched - 1u)) {
        squares = half_at(squares_of(rows, source.row));
        given = untried(squares) ^ lowest_bit(untried(squares));
    }
    const u32 givers = vote(given != 0), own_number = bits_of(givers & lanes_below());
    if (given != 0 && own_number < bits_of(idle)) {
        const Place to = buffer + 4u * own_number;
        const u32 row = rows.all[source.row], queen = queen_of(squares);
        set_half(squares_of(rows, source.row), squares ^ given);
        set_word(to, ((source.left & QF_COLUMNS) ^ queen) | given << QF_MOST_COLUMNS | source.row << QF_ROW);
        set_word(to + 4u * room, (source.falling ^ queen << falling_of(row)) | source.unit << QF_UNIT);
        set_word(to + 8u * room, (source.rising ^ queen << rising_of(row)) | source.row >> 2 << QF_ROW);
    }
    meet_warp();
    const u32 number = bits_of(idle & lanes_below());
    if (is_idle(source) && number < bits_of(givers)) {
        const Place from = buffer + 4u * number;
        const u32 columns = word_at(from), falling = word_at(from + 4u * room), rising = word_at(from + 8u * room);
        source.left = (columns & QF_COLUMNS) | rows.all_others << QF_OTHERS;
        source.row = source.first_row = columns >> QF_ROW | rising >> QF_ROW << 2;
        source.falling = diagonals_of(falling);
        source.rising = diagonals_of(rising);
        source.unit = falling >> QF_UNIT;
        set_half(squares_of(rows, source.row), (columns >> QF_MOST_COLUMNS & QF_COLUMNS) | QF_FRESH);
    }
    // What follows may write to the buffer.
    meet_warp();
}

/// Makes nodes of placements on the rows that are searched until enough of them wait at the highest level, `waiting` of them
/// at the beginning. Returns whether no more will come. `more` says whether there are beginnings to take.
template <bool IsSecond>
QF_INLINE bool begin_nodes(ColourSource &source, const ColourRows &rows, Place buffers, bool &more, u32 &waiting,
                           u32 &placements) {
    const Place buffer = buffers + 4u * words_below(rows.level_count);
    while (waiting < enough(rows.level_count)) {
        const u32 idle = vote(is_idle(source));
        const u32 found = bits_of(vote(source.found_rising != 0));
        const bool is_stuck = vote(is_searching(source)) == 0;
        // What few lanes do alone takes as long as for all of them.
        if (more && (4u * bits_of(idle) >= QF_LANES || (is_stuck && found == 0)))
            more = take_beginnings<IsSecond>(source, rows, idle);
        else if (2u * found >= QF_LANES || (is_stuck && found != 0))
            hand_over<IsSecond>(source, rows, buffer, room(rows.level_count), waiting, placements);
        else if (is_stuck)
            return true;
        // Else few lanes would go on for long. With the second colour it gains nothing.
        else if (!IsSecond && !more && 4u * bits_of(idle) >= QF_LANES && rows.level_count > 3u)
            share(source, rows, buffer + 4u * waiting, room(rows.level_count), idle);
        if (is_searching(source))
            source.is_full = go_on(source, rows);
        // The search goes on while what it found waits.
        if (source.is_full && source.found_rising == 0) {
            source.found = diagonals_of(source.falling) | source.unit << QF_UNIT;
            source.found_rising = source.rising;
            source.found_others = source.left >> QF_OTHERS;
            source.is_full = false;
        }
    }
    return false;
}
