//! Functions of two functions, point by point.

#![expect(clippy::indexing_slicing, reason = "node ids index the manager that made them")]

use super::{CONFLICT, Diagram, Full, Made, NodeId, Op, TERMINALS};

impl Diagram {
    fn leaf(op: Op, f: u32, g: u32) -> Option<u32> {
        match op {
            Op::And => match (f, g) {
                (0, _) | (_, 0) => Some(0),
                (1, other) | (other, 1) => Some(other),
                _ if f == g => Some(f),
                _ => None,
            },
            Op::Or => match (f, g) {
                (1, _) | (_, 1) => Some(1),
                (0, other) | (other, 0) => Some(other),
                _ if f == g => Some(f),
                _ => None,
            },
            // f a condition, g a class function: g where f holds, no scenario elsewhere.
            Op::Guard => match (f, g) {
                (0, _) | (_, 0) => Some(0),
                (1, other) => Some(other),
                _ => None,
            },
            // Two class functions that are nowhere both present.
            Op::Join => match (f, g) {
                (0, other) | (other, 0) => Some(other),
                _ if f == g => Some(f),
                (a, b) if a < TERMINALS && b < TERMINALS => Some(a.max(b)),
                _ => None,
            },
            Op::Merge => match (f, g) {
                (0, other) | (other, 0) => Some(other),
                _ if f == g => Some(f),
                (a, b) if a < TERMINALS && b < TERMINALS => Some(CONFLICT),
                _ => None,
            },
            // Bit sets of possible verdicts, each a terminal.
            Op::Union => match (f, g) {
                (0, other) | (other, 0) => Some(other),
                _ if f == g => Some(f),
                (a, b) if a < TERMINALS && b < TERMINALS => Some(a | b),
                _ => None,
            },
            Op::Restrict | Op::Drop | Op::Not | Op::Exists => None,
        }
    }

    pub(super) fn apply(&mut self, op: Op, f: u32, g: u32) -> Result<u32, Full> {
        if let Some(result) = Self::leaf(op, f, g) {
            return Ok(result);
        }
        let (f, g) = if f > g && !matches!(op, Op::Guard) { (g, f) } else { (f, g) };
        if let (_, Some(result)) = self.cached(op as u32, f, g) {
            return Ok(result);
        }
        let place = self.place[f as usize].min(self.place[g as usize]);
        let arity = self.arity[place as usize] as usize;
        let result = if arity == 2 {
            let low = self.apply(op, self.below(f, place, 0), self.below(g, place, 0))?;
            let high = if low == CONFLICT {
                CONFLICT
            } else {
                self.apply(op, self.below(f, place, 1), self.below(g, place, 1))?
            };
            if high == CONFLICT { CONFLICT } else { self.make_at(place, &[low, high])? }
        } else {
            let mut kids = Vec::with_capacity(arity);
            for at in 0..arity {
                kids.push(self.apply(op, self.below(f, place, at), self.below(g, place, at))?);
                if kids[at] == CONFLICT {
                    break;
                }
            }
            if kids.len() < arity || kids[arity - 1] == CONFLICT {
                CONFLICT
            } else {
                self.make_at(place, &kids)?
            }
        };
        self.remember(op as u32, f, g, result);
        Ok(result)
    }

    /// The function once the level at `place` has a value; nothing before it is looked at.
    #[inline]
    pub(super) fn below(&self, f: u32, place: u16, value: usize) -> u32 {
        if self.place[f as usize] == place {
            self.kids[self.start[f as usize] as usize + value]
        } else {
            f
        }
    }

    /// Both conditions.
    ///
    /// # Errors
    /// [`Full`].
    pub fn and(&mut self, f: NodeId, g: NodeId) -> Made {
        self.apply(Op::And, f.0, g.0).map(NodeId)
    }

    /// Either condition.
    ///
    /// # Errors
    /// [`Full`].
    pub fn or(&mut self, f: NodeId, g: NodeId) -> Made {
        self.apply(Op::Or, f.0, g.0).map(NodeId)
    }

    /// The condition's negation.
    ///
    /// # Errors
    /// [`Full`].
    pub fn not(&mut self, f: NodeId) -> Made {
        self.map(Op::Not, f.0, 0).map(NodeId)
    }

    /// The class function `g` where the condition `f` holds, "no scenario" elsewhere.
    ///
    /// # Errors
    /// [`Full`].
    pub fn guard(&mut self, f: NodeId, g: NodeId) -> Made {
        self.apply(Op::Guard, f.0, g.0).map(NodeId)
    }

    /// Two class functions together; where both have a class the caller has ruled out a difference.
    ///
    /// # Errors
    /// [`Full`].
    pub fn join(&mut self, f: NodeId, g: NodeId) -> Made {
        self.apply(Op::Join, f.0, g.0).map(NodeId)
    }

    /// Point by point the union of bit sets.
    ///
    /// # Errors
    /// [`Full`].
    pub fn union(&mut self, f: NodeId, g: NodeId) -> Made {
        self.apply(Op::Union, f.0, g.0).map(NodeId)
    }
}
