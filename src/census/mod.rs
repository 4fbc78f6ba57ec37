//! The solutions fixed by a half or a quarter turn.
