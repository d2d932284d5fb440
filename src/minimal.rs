//! Minimal sets by yes/no answers alone: what is found depends on the answers and on the order of
//! the candidates, never on a core or model that a solver happens to return.

/// QuickXplain (Junker 2004): the preferred minimal part of `candidates` for which `holds` says
/// yes. `holds` is asked of parts in the order of `candidates`, is monotone, and says yes to all of
/// them.
///
/// # Errors
/// Whatever `holds` fails with.
pub fn first<E>(
    candidates: &[usize],
    holds: &mut dyn FnMut(&[usize]) -> Result<bool, E>,
) -> Result<Vec<usize>, E> {
    let mut found = explain(&[], candidates, true, holds)?;
    let place = |at: &usize| candidates.iter().position(|other| other == at);
    found.sort_by_key(place);
    Ok(found)
}

fn explain<E>(
    given: &[usize],
    candidates: &[usize],
    changed: bool,
    holds: &mut dyn FnMut(&[usize]) -> Result<bool, E>,
) -> Result<Vec<usize>, E> {
    if candidates.is_empty() || (changed && holds(given)?) {
        return Ok(Vec::new());
    }
    if candidates.len() == 1 {
        return Ok(candidates.to_vec());
    }
    let (front, back) = candidates.split_at(candidates.len() / 2);
    let with_front = [given, front].concat();
    let needed_back = explain(&with_front, back, true, holds)?;
    let with_back = [given, &needed_back].concat();
    let needed_front = explain(&with_back, front, !needed_back.is_empty(), holds)?;
    Ok([needed_front, needed_back].concat())
}

/// What is known while the smallest sets are looked for: every set wanted meets each of
/// `to_meet` and contains none of `found`.
#[derive(Debug, Default)]
pub struct Hitting {
    /// Sets of which one element at least is needed.
    pub to_meet: Vec<Vec<usize>>,
    /// Sets found; what contains one is not minimal.
    pub found: Vec<Vec<usize>>,
}

impl Hitting {
    /// The first set, in lexicographic order, of exactly `size` elements. Each smaller one must
    /// have been found or ruled out by a further set to meet.
    #[must_use]
    pub fn next(&self, size: usize) -> Option<Vec<usize>> {
        let mut best = None;
        self.search(size, &mut Vec::new(), &mut best);
        best
    }

    fn search(&self, size: usize, chosen: &mut Vec<usize>, best: &mut Option<Vec<usize>>) {
        if self.found.iter().any(|set| set.iter().all(|at| chosen.contains(at))) {
            return;
        }
        let open = self.to_meet.iter().filter(|set| !set.iter().any(|at| chosen.contains(at)));
        let Some(open) = open.min_by_key(|set| set.len()) else {
            let mut set = chosen.clone();
            set.sort_unstable();
            if set.len() == size && best.as_ref().is_none_or(|best| set < *best) {
                *best = Some(set);
            }
            return;
        };
        if chosen.len() == size {
            return;
        }
        for at in open {
            chosen.push(*at);
            self.search(size, chosen, best);
            chosen.pop();
        }
    }

    /// Every smallest way to take one element from each set found, at most `most` of them; none if
    /// there are more.
    #[must_use]
    pub fn transversals(&self, most: usize) -> Option<Vec<Vec<usize>>> {
        let mut all: Vec<Vec<usize>> = vec![Vec::new()];
        for set in &self.found {
            let mut more = Vec::new();
            for known in all {
                if set.iter().any(|at| known.contains(at)) {
                    more.push(known);
                    continue;
                }
                more.extend(set.iter().map(|at| [known.as_slice(), &[*at]].concat()));
            }
            all = more;
            if all.len() > most {
                return None;
            }
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preferred_minimal_part_is_found() {
        let check = |wanted: &[&[usize]], candidates: &[usize], expect: &[usize]| {
            let mut asked = 0;
            let mut holds = |set: &[usize]| {
                asked += 1;
                Ok::<bool, ()>(wanted.iter().any(|one| one.iter().all(|at| set.contains(at))))
            };
            assert_eq!(first(candidates, &mut holds).unwrap(), expect, "{wanted:?}");
        };
        check(&[&[3, 5]], &[0, 1, 2, 3, 4, 5, 6], &[3, 5]);
        check(&[&[6], &[0, 1]], &[0, 1, 2, 3, 4, 5, 6], &[0, 1]);
        check(&[&[6], &[0, 1]], &[6, 5, 4, 3, 2, 1, 0], &[6]);
        check(&[&[]], &[0, 1], &[]);
        check(&[&[0]], &[0], &[0]);
    }

    #[test]
    fn sets_come_by_size_and_meet_what_they_must() {
        let mut hitting = Hitting { to_meet: vec![vec![1, 2], vec![2, 3]], found: Vec::new() };
        assert_eq!(hitting.next(1), Some(vec![2]));
        hitting.found.push(vec![2]);
        assert_eq!(hitting.next(1), None);
        assert_eq!(hitting.next(2), Some(vec![1, 3]));
        hitting.found.push(vec![1, 3]);
        assert_eq!(hitting.next(2), None);
        assert_eq!(hitting.transversals(9), Some(vec![vec![2, 1], vec![2, 3]]));
        assert_eq!(hitting.transversals(1), None);
    }
}
