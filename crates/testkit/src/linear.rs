//! Whether what clients saw could have happened one call after the other.
//!
//! A history is linearizable when every call can be given one moment between its beginning and its end, so that the
//! calls in the order of these moments are a run of the sequential [`Model`]. The search is Wing and Gong's with Lowe's
//! memory of where it has been: from the calls that may come first, one that the model accepts is taken out; when an
//! end is met whose call was not taken, the last choice was wrong. A call whose answer was lost has no end: it may have
//! happened at any time after it began, or never.
//!
//! Keys that do not touch each other are checked apart: a history of one key is short, and the search is exponential
//! only in how many calls overlap.

use std::collections::HashSet;
use std::hash::Hash;

/// What is believed to happen when there is only one client.
pub trait Model {
    type State: Clone + Eq + Hash;
    type Call;
    type Answer;

    fn initial() -> Self::State;

    /// The state after a call that was answered like this; nothing where it cannot have been. Without an answer every
    /// answer would do.
    fn step(
        state: &Self::State,
        call: &Self::Call,
        answer: Option<&Self::Answer>,
    ) -> Option<Self::State>;
}

/// A call as its client saw it. Times are of one clock, and only their order counts.
#[derive(Clone, Debug)]
pub struct Operation<C, A> {
    pub call: C,
    pub began: u64,
    /// When the answer came and what it was; nothing where none came.
    pub ended: Option<(u64, A)>,
}

/// No order explains the history. The calls that could be ordered at most, as positions in it, and the first call
/// that ended without having a place among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub ordered: Vec<usize>,
    pub stuck: usize,
}

/// Searches for an order of the calls that explains every answer.
pub fn linearizable<M: Model>(history: &[Operation<M::Call, M::Answer>]) -> Result<(), Violation> {
    let mut line = Line::new(history);
    let mut taken = Taken::new(history.len());
    let mut been: HashSet<(Taken, M::State)> = HashSet::new();
    let mut choices: Vec<(usize, M::State)> = Vec::new();
    let mut state = M::initial();
    let mut furthest = Violation { ordered: Vec::new(), stuck: 0 };
    let mut open = history.iter().filter(|operation| operation.ended.is_some()).count();
    let mut at = line.first();
    while open > 0 {
        let position = at.expect("the end of a call that is open stands in the line");
        let Entry { operation, is_end } = line.entries[position];
        if is_end {
            if choices.len() >= furthest.ordered.len() {
                let ordered = choices.iter().map(|(call, _)| line.entries[*call].operation);
                furthest = Violation { ordered: ordered.collect(), stuck: operation };
            }
            let Some((call, before)) = choices.pop() else { return Err(furthest) };
            let undone = line.entries[call].operation;
            line.put_back(call);
            taken.clear(undone);
            state = before;
            open += usize::from(history[undone].ended.is_some());
            at = line.after(call);
            continue;
        }
        let seen = &history[operation];
        let answer = seen.ended.as_ref().map(|(_, answer)| answer);
        if let Some(next) = M::step(&state, &seen.call, answer) {
            taken.set(operation);
            if been.insert((taken.clone(), next.clone())) {
                choices.push((position, std::mem::replace(&mut state, next)));
                line.take_out(position);
                open -= usize::from(seen.ended.is_some());
                at = line.first();
                continue;
            }
            taken.clear(operation);
        }
        at = line.after(position);
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Entry {
    operation: usize,
    is_end: bool,
}

/// Beginnings and ends in the order of time, as a list from which calls are taken and put back.
struct Line {
    entries: Vec<Entry>,
    /// Neighbours; position 0 stands before the first.
    next: Vec<usize>,
    last: Vec<usize>,
    /// Where the end of a call stands.
    ends: Vec<Option<usize>>,
}

impl Line {
    fn new<C, A>(history: &[Operation<C, A>]) -> Line {
        let mut times = Vec::new();
        for (operation, seen) in history.iter().enumerate() {
            times.push((seen.began, Entry { operation, is_end: false }));
            if let Some((ended, _)) = &seen.ended {
                times.push((*ended, Entry { operation, is_end: true }));
            }
        }
        // Of two at one time the beginning comes first: they overlap.
        times.sort_by_key(|(time, entry)| (*time, entry.is_end));
        let mut entries = vec![Entry { operation: usize::MAX, is_end: false }];
        entries.extend(times.into_iter().map(|(_, entry)| entry));
        let mut ends = vec![None; history.len()];
        for (position, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.is_end) {
            ends[entry.operation] = Some(position);
        }
        let count = entries.len();
        let next = (1..=count).map(|position| position % count).collect();
        let last = (0..count).map(|position| (position + count - 1) % count).collect();
        Line { entries, next, last, ends }
    }

    fn first(&self) -> Option<usize> {
        self.after(0)
    }

    fn after(&self, position: usize) -> Option<usize> {
        Some(self.next[position]).filter(|next| *next != 0)
    }

    fn unlink(&mut self, position: usize) {
        let (last, next) = (self.last[position], self.next[position]);
        self.next[last] = next;
        self.last[next] = last;
    }

    fn link(&mut self, position: usize) {
        let (last, next) = (self.last[position], self.next[position]);
        self.next[last] = position;
        self.last[next] = position;
    }

    fn take_out(&mut self, call: usize) {
        self.unlink(call);
        if let Some(end) = self.ends[self.entries[call].operation] {
            self.unlink(end);
        }
    }

    /// In the opposite order, so that every neighbour is where it was.
    fn put_back(&mut self, call: usize) {
        if let Some(end) = self.ends[self.entries[call].operation] {
            self.link(end);
        }
        self.link(call);
    }
}

/// Which calls have their place.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Taken(Vec<u64>);

impl Taken {
    fn new(count: usize) -> Taken {
        Taken(vec![0; count.div_ceil(64)])
    }

    fn set(&mut self, operation: usize) {
        self.0[operation / 64] |= 1 << (operation % 64);
    }

    fn clear(&mut self, operation: usize) {
        self.0[operation / 64] &= !(1 << (operation % 64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that is written and read.
    struct Register;

    #[derive(Clone, Debug)]
    enum Call {
        Write(u32),
        Read,
        /// From, to.
        Swap(u32, u32),
    }

    #[derive(Clone, Debug, PartialEq)]
    enum Answer {
        Done,
        Value(u32),
        Lost,
    }

    impl Model for Register {
        type State = u32;
        type Call = Call;
        type Answer = Answer;

        fn initial() -> u32 {
            0
        }

        fn step(state: &u32, call: &Call, answer: Option<&Answer>) -> Option<u32> {
            let (next, said) = match call {
                Call::Write(value) => (*value, Answer::Done),
                Call::Read => (*state, Answer::Value(*state)),
                Call::Swap(from, to) if from == state => (*to, Answer::Done),
                Call::Swap(..) => (*state, Answer::Lost),
            };
            answer.is_none_or(|answer| *answer == said).then_some(next)
        }
    }

    fn of(call: Call, began: u64, ended: u64, answer: Answer) -> Operation<Call, Answer> {
        Operation { call, began, ended: Some((ended, answer)) }
    }

    fn lost(call: Call, began: u64) -> Operation<Call, Answer> {
        Operation { call, began, ended: None }
    }

    fn check(history: &[Operation<Call, Answer>]) -> Result<(), Violation> {
        linearizable::<Register>(history)
    }

    #[test]
    fn one_after_the_other_is_a_run_of_the_model() {
        let history = [
            of(Call::Write(1), 0, 1, Answer::Done),
            of(Call::Read, 2, 3, Answer::Value(1)),
            of(Call::Swap(1, 2), 4, 5, Answer::Done),
            of(Call::Swap(1, 3), 6, 7, Answer::Lost),
            of(Call::Read, 8, 9, Answer::Value(2)),
        ];
        assert_eq!(check(&history), Ok(()));
        assert_eq!(check(&[]), Ok(()));
    }

    #[test]
    fn a_read_that_misses_a_write_which_had_ended_is_found() {
        let history = [
            of(Call::Write(1), 0, 1, Answer::Done),
            of(Call::Write(2), 2, 3, Answer::Done),
            of(Call::Read, 4, 5, Answer::Value(1)),
        ];
        assert_eq!(check(&history), Err(Violation { ordered: vec![0, 1], stuck: 2 }));
    }

    #[test]
    fn calls_that_overlap_may_have_happened_in_either_order() {
        let write = |value, answer| {
            [
                of(Call::Write(1), 0, 10, Answer::Done),
                of(Call::Write(2), 0, 10, Answer::Done),
                of(Call::Read, 11, 12, answer),
                of(Call::Read, 13, 14, Answer::Value(value)),
            ]
        };
        assert_eq!(check(&write(1, Answer::Value(1))), Ok(()));
        assert_eq!(check(&write(2, Answer::Value(2))), Ok(()));
        assert!(check(&write(1, Answer::Value(2))).is_err(), "read 2, then 1");
    }

    #[test]
    fn a_lost_answer_may_have_happened_late_or_never_but_not_twice() {
        let late = [
            lost(Call::Write(7), 0),
            of(Call::Read, 1, 2, Answer::Value(0)),
            of(Call::Read, 3, 4, Answer::Value(7)),
        ];
        assert_eq!(check(&late), Ok(()));
        let never = [lost(Call::Write(7), 0), of(Call::Read, 1, 2, Answer::Value(0))];
        assert_eq!(check(&never), Ok(()));
        let twice = [
            lost(Call::Write(7), 0),
            of(Call::Read, 1, 2, Answer::Value(7)),
            of(Call::Write(1), 3, 4, Answer::Done),
            of(Call::Read, 5, 6, Answer::Value(7)),
        ];
        assert!(check(&twice).is_err());
        let before_it_began = [of(Call::Read, 0, 1, Answer::Value(7)), lost(Call::Write(7), 2)];
        assert!(check(&before_it_began).is_err());
    }

    #[test]
    fn two_winners_of_one_swap_are_found() {
        let history =
            [of(Call::Swap(0, 1), 0, 9, Answer::Done), of(Call::Swap(0, 2), 1, 8, Answer::Done)];
        assert!(check(&history).is_err());
    }

    /// Eight clients, each with one call at a time, and the answers that one register gives them.
    fn of_eight_clients(count: usize) -> Vec<Operation<Call, Answer>> {
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        let mut free = [0_u64; 8];
        let mut moments: Vec<(u64, u64, u64)> = Vec::new();
        for n in 0..count {
            let client = n % free.len();
            let began = free[client] + random(20);
            let happened = began + random(40);
            let ended = happened + random(40);
            free[client] = ended + 1;
            moments.push((happened, began, ended));
        }
        moments.sort_unstable();
        let mut state = Register::initial();
        let mut history = Vec::new();
        for (_, began, ended) in moments {
            let value = u32::try_from(random(5)).unwrap();
            let (call, next, answer) = match random(3) {
                0 => (Call::Write(value), value, Answer::Done),
                1 => (Call::Read, state, Answer::Value(state)),
                _ if value == state => (Call::Swap(value, 9), 9, Answer::Done),
                _ => (Call::Swap(value, 9), state, Answer::Lost),
            };
            state = next;
            history.push(of(call, began, ended, answer));
        }
        history
    }

    #[test]
    fn a_long_history_of_some_clients_is_decided() {
        let mut history = of_eight_clients(4000);
        assert_eq!(check(&history), Ok(()));
        let read = history.iter().rposition(|seen| matches!(seen.call, Call::Read)).unwrap();
        let ended = history[read].ended.as_ref().unwrap().0;
        history[read].ended = Some((ended, Answer::Value(77)));
        assert!(check(&history).is_err());
    }
}
