// SPDX-License-Identifier: MIT
//! The benchmarks as criterion runs them.
use costs::{block, work};
use criterion::{black_box, criterion_group, criterion_main, BenchmarkId, Criterion};
use std::time::Duration;

fn loops(c: &mut Criterion) {
    let mut group = c.benchmark_group("loops");
    for turns in [10_000u64, 20_000] {
        group.bench_with_input(BenchmarkId::from_parameter(turns), &turns, |b, &turns| {
            b.iter(|| work(black_box(turns)))
        });
    }
    group.finish();
}

fn blocks(c: &mut Criterion) {
    c.bench_function("a block", |b| b.iter(|| block(black_box(12_345))));
}

/// In walltime mode, a second instead of eight for each.
fn short() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
}

criterion_group! {
    name = benches;
    config = short();
    targets = loops, blocks
}
criterion_main!(benches);
