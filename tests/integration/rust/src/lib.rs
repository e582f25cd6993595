// SPDX-License-Identifier: MIT
//! Work of known cost.
use std::hint::black_box;

/// A loop whose turns cost the same, whatever the compiler does to it.
pub fn work(turns: u64) -> u64 {
    let mut sum = 0u64;
    for i in 0..turns {
        sum = black_box(sum.wrapping_mul(31) ^ i);
    }
    sum
}

/// One block of exactly so many bytes, given back at once.
pub fn block(bytes: usize) {
    drop(black_box(Vec::<u8>::with_capacity(bytes)));
}
