//! Pairs that `softalign align` aligns.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Error, Result};

use crate::cli::AlignArgs;
use crate::error::usage_of;
use crate::text::{LineNumbers, OnError, Pair, PairFiles, PairStream};
use crate::translator::LinksFrom;

/// Pairs to align.
pub struct AlignInput {
    /// All pairs if a lexicon, a ranking or an aligner needs them at once, else none. Unreadable ones are empty.
    pub all: Vec<Pair>,
    queue: AlignQueue,
    /// Line numbers of all pairs.
    pub numbers: LineNumbers,
    /// Indices of the pairs that --only selects.
    selected: Option<Vec<usize>>,
    /// Estimated number of pairs to align, if known.
    pub count: Option<usize>,
}

/// Pairs that are not aligned yet.
enum AlignQueue {
    Stream(Box<PairStream>),
    Memory {
        /// Place of the next pair among those that are selected.
        next: usize,
        /// Errors of the unreadable pairs by their index.
        errors: BTreeMap<usize, Error>,
    },
}

impl AlignInput {
    /// Opens the pairs, or reads them if all are needed at once.
    ///
    /// # Errors
    /// A file cannot be read, or has a line that ends the work.
    pub fn new(args: &AlignArgs, files: &PairFiles) -> Result<Self> {
        let together = args.lexicon.is_some() || args.noisy || args.gold.is_some() || !args.only.is_empty();
        if !together && args.links.links_from != LinksFrom::Pairs {
            let stream = files.stream("--pairs")?;
            let (numbers, count) = (stream.numbers().clone(), files.count());
            return Ok(Self {
                all: Vec::new(),
                queue: AlignQueue::Stream(Box::new(stream)),
                numbers,
                selected: None,
                count,
            });
        }
        let (each, numbers) = files.read_each("--pairs")?;
        let (mut all, mut errors) = (Vec::with_capacity(each.len()), BTreeMap::new());
        for (id, pair) in each.into_iter().enumerate() {
            match pair {
                Err(error) if args.on_error == OnError::Fail => return Err(error),
                Err(error) => {
                    errors.insert(id, error);
                    all.push(Pair::default());
                }
                Ok(pair) => all.push(pair),
            }
        }
        let selected = (!args.only.is_empty()).then(|| chosen(&args.only, all.len())).transpose()?;
        let count = selected.as_ref().map_or(all.len(), Vec::len);
        Ok(Self { all, queue: AlignQueue::Memory { next: 0, errors }, numbers, selected, count: Some(count) })
    }

    /// Returns the index of the pair at a place among those that are aligned.
    pub fn id(&self, place: usize) -> usize {
        self.selected.as_ref().map_or(place, |selected| selected[place])
    }

    /// Returns at most `most` further pairs; none at the end.
    ///
    /// # Errors
    /// The files cannot be read any further.
    pub fn next_chunk(&mut self, most: usize) -> Result<Vec<Result<Pair>>> {
        let (next, errors) = match &mut self.queue {
            AlignQueue::Stream(stream) => return stream.next_chunk(most),
            AlignQueue::Memory { next, errors } => (next, errors),
        };
        let selected = self.selected.as_deref();
        let end = selected.map_or(self.all.len(), <[usize]>::len).min(*next + most);
        let mut chunk = Vec::with_capacity(end - *next);
        for place in *next..end {
            let id = selected.map_or(place, |selected| selected[place]);
            chunk.push(errors.remove(&id).map_or_else(|| Ok(self.all[id].clone()), Err));
        }
        *next = end;
        Ok(chunk)
    }
}

/// Returns the indices that `--only` selects, sorted.
fn chosen(only: &[usize], count: usize) -> Result<Vec<usize>> {
    if let Some(number) = only.iter().find(|number| !(1..=count).contains(number)) {
        return usage_of("only", format!("{number}: expected a pair number from 1 to {count}"));
    }
    Ok(BTreeSet::from_iter(only.iter().map(|number| number - 1)).into_iter().collect())
}
