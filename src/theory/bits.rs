//! Patterns as bits.

#![expect(clippy::indexing_slicing, reason = "words of the layout that made the bits")]

/// A set of levels with values, as bits: each level has as many bits as its values need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bits {
    mask: Vec<u64>,
    value: Vec<u64>,
}

/// Where each level's bits are.
#[derive(Clone, Debug)]
pub struct Layout {
    start: Vec<u32>,
    width: Vec<u32>,
    words: usize,
}

impl Layout {
    /// Bits for levels with these numbers of values.
    #[must_use]
    pub fn new(arity: &[u8]) -> Self {
        let mut layout = Self { start: Vec::new(), width: Vec::new(), words: 0 };
        let mut next = 0_u32;
        for values in arity {
            let width = u8::BITS - values.saturating_sub(1).leading_zeros();
            // A level never straddles two words.
            if next % 64 + width > 64 {
                next = next.next_multiple_of(64);
            }
            layout.start.push(next);
            layout.width.push(width);
            next += width;
        }
        layout.words = (next as usize).div_ceil(64).max(1);
        layout
    }

    /// Words of a mask.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words
    }

    /// Nothing set.
    #[must_use]
    pub fn empty(&self) -> Bits {
        Bits { mask: vec![0; self.words], value: vec![0; self.words] }
    }

    /// Sets a level.
    pub fn set(&self, bits: &mut Bits, level: u16, value: u8) {
        let (word, shift, ones) = self.place(level);
        bits.mask[word] |= ones << shift;
        bits.value[word] &= !(ones << shift);
        bits.value[word] |= u64::from(value) << shift;
    }

    /// The value of a level in full bits.
    #[must_use]
    pub fn get(&self, value: &[u64], level: u16) -> u8 {
        let (word, shift, ones) = self.place(level);
        u8::try_from((value[word] >> shift) & ones).unwrap_or(0)
    }

    fn place(&self, level: u16) -> (usize, u32, u64) {
        let start = self.start[level as usize];
        let ones = (1_u64 << self.width[level as usize]) - 1;
        ((start / 64) as usize, start % 64, ones)
    }
}

impl Bits {
    /// The levels that are set, as ones.
    #[must_use]
    pub fn mask(&self) -> &[u64] {
        &self.mask
    }

    /// Their values; zero elsewhere.
    #[must_use]
    pub fn value(&self) -> &[u64] {
        &self.value
    }

    /// Whether full bits agree with what is set here.
    #[must_use]
    pub fn fits(&self, full: &[u64]) -> bool {
        self.mask
            .iter()
            .zip(&self.value)
            .zip(full)
            .all(|((mask, value), full)| (full ^ value) & mask == 0)
    }
}
