//! Nodes in the order that a strategy wants, in blocks that know the most that is free in them.
//!
//! A request looks at a node only where its block has enough of everything, so that passing by a full
//! fleet costs a step for each block and not for each node. A block's measure is never too low: it is
//! raised with every node that comes, and taken anew when the node that set it leaves or is given away.

use hostler_model::{Reservation, Resources};

use super::devices::asked_cores;
use super::offer::NodeOffer;

/// The smaller the better: a measure in the upper bits, how much runs there in the lower.
pub(super) type Key = u64;

/// How many nodes a new block has; it is split at twice as many.
const BLOCK: usize = 64;

/// Amounts that compare: what is free of a node, or what is asked of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Room {
    pub cores: u32,
    /// Of which any part at all is free.
    pub gpus: u32,
    pub memory: u64,
    pub disk: u64,
}

impl Room {
    /// What is free of a node.
    pub fn free(node: &NodeOffer) -> Room {
        let free = node.free();
        let gpus = node.gpus.iter().filter(|gpu| gpu.free() > 0).count();
        Room {
            cores: free.cores.millis(),
            gpus: number(gpus),
            memory: free.memory.get(),
            disk: free.disk.get(),
        }
    }

    /// The most that can ever be free of a node.
    pub fn whole(node: &NodeOffer) -> Room {
        Room {
            cores: node.capacity.cores.millis(),
            gpus: number(node.gpus.len()),
            memory: node.capacity.memory.get(),
            disk: node.capacity.disk.get(),
        }
    }

    pub fn asked(resources: &Resources) -> Room {
        Room {
            cores: asked_cores(resources).millis(),
            gpus: resources.gpus.count,
            memory: resources.memory.get(),
            disk: resources.disk.get(),
        }
    }

    /// Adds what something holds; of GPUs as many as the node has.
    pub fn give_back(&mut self, held: &Reservation, node: &NodeOffer) {
        self.cores = self.cores.saturating_add(held.cores.millis());
        self.memory = self.memory.saturating_add(held.memory.get());
        self.disk = self.disk.saturating_add(held.disk.get());
        self.gpus = number(node.gpus.len());
    }

    pub fn covers(&self, asked: &Room) -> bool {
        asked.cores <= self.cores
            && asked.memory <= self.memory
            && asked.disk <= self.disk
            && asked.gpus <= self.gpus
    }

    fn raise(&mut self, other: &Room) {
        self.cores = self.cores.max(other.cores);
        self.gpus = self.gpus.max(other.gpus);
        self.memory = self.memory.max(other.memory);
        self.disk = self.disk.max(other.disk);
    }

    /// Whether it is the most in anything.
    fn sets(&self, most: &Room) -> bool {
        self.cores >= most.cores
            || self.gpus >= most.gpus
            || self.memory >= most.memory
            || self.disk >= most.disk
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Nodes by how good they are for a strategy.
pub(super) struct Order {
    /// None is empty.
    blocks: Vec<Block>,
}

/// A node that was given something, and is not where it was.
#[derive(Clone, Copy)]
pub(super) struct Moved {
    pub at: u32,
    pub from: Key,
    pub to: Key,
    /// What was free of it.
    pub before: Room,
}

pub(super) struct Block {
    /// Sorted, with the positions of nodes.
    entries: Vec<(Key, u32)>,
    last: (Key, u32),
    most: Room,
}

impl Block {
    fn of(entries: Vec<(Key, u32)>, free: &[Room]) -> Block {
        let last = entries.last().copied().unwrap_or_default();
        let mut block = Block { entries, last, most: Room::default() };
        block.measure(free);
        block
    }

    fn measure(&mut self, free: &[Room]) {
        self.most = Room::default();
        for (_, at) in &self.entries {
            self.most.raise(&free[*at as usize]);
        }
    }

    /// Whether one of its nodes may have so much.
    pub fn covers(&self, asked: &Room) -> bool {
        self.most.covers(asked)
    }

    pub fn positions(&self) -> impl Iterator<Item = u32> {
        self.entries.iter().map(|(_, at)| *at)
    }
}

impl Order {
    /// `keys` and `free` are of all nodes, `places` the positions of those that are in the order.
    pub fn of(keys: &[Key], places: &[u32], free: &[Room]) -> Order {
        let mut entries: Vec<(Key, u32)> =
            places.iter().map(|at| (keys[*at as usize], *at)).collect();
        entries.sort_unstable();
        let blocks = entries.chunks(BLOCK).map(|part| Block::of(part.to_vec(), free)).collect();
        Order { blocks }
    }

    /// Best first.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    fn block_of(&self, entry: (Key, u32)) -> usize {
        self.blocks.partition_point(|block| block.last < entry)
    }

    /// Puts a node that is in it to its new place.
    pub fn follow(&mut self, moved: &Moved, free: &[Room]) {
        let Moved { at, from: old, to: key, before } = *moved;
        let from = self.block_of((old, at));
        let Some(block) = self.blocks.get_mut(from) else { return };
        if old != key {
            let Ok(index) = block.entries.binary_search(&(old, at)) else { return };
            block.entries.remove(index);
        }
        match block.entries.last() {
            Some(last) => {
                block.last = *last;
                if before.sets(&block.most) {
                    block.measure(free);
                }
            }
            None => drop(self.blocks.remove(from)),
        }
        if old != key {
            self.insert((key, at), free);
        }
    }

    pub fn insert(&mut self, entry: (Key, u32), free: &[Room]) {
        let to = self.block_of(entry).min(self.blocks.len().saturating_sub(1));
        let Some(block) = self.blocks.get_mut(to) else {
            self.blocks.push(Block::of(vec![entry], free));
            return;
        };
        let index = block.entries.partition_point(|other| *other < entry);
        block.entries.insert(index, entry);
        block.last = block.last.max(entry);
        block.most.raise(&free[entry.1 as usize]);
        if block.entries.len() > 2 * BLOCK {
            let rest = block.entries.split_off(BLOCK);
            block.last = block.entries.last().copied().unwrap_or_default();
            block.measure(free);
            self.blocks.insert(to + 1, Block::of(rest, free));
        }
    }
}

/// The most that each of some nodes can come to offer; it may be too much, and is never too little.
pub(super) struct Reach {
    each: Vec<Room>,
    blocks: Vec<Room>,
}

impl Reach {
    pub fn of(each: Vec<Room>) -> Reach {
        let most = |part: &[Room]| {
            part.iter().fold(Room::default(), |mut most, room| {
                most.raise(room);
                most
            })
        };
        Reach { blocks: each.chunks(BLOCK).map(most).collect(), each }
    }

    /// Which of them can come to offer so much.
    pub fn covering(&self, asked: &Room) -> impl Iterator<Item = usize> {
        let good = self.blocks.iter().enumerate().filter(|(_, most)| most.covers(asked));
        let nodes = good.flat_map(|(block, _)| {
            let begin = block * BLOCK;
            begin..self.each.len().min(begin + BLOCK)
        });
        nodes.filter(|index| self.each[*index].covers(asked))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn order_is_whole(order: &Order, keys: &[Key], open: &[u32], free: &[Room]) {
        let mut expected: Vec<(Key, u32)> =
            open.iter().map(|at| (keys[*at as usize], *at)).collect();
        expected.sort_unstable();
        let found: Vec<(Key, u32)> =
            order.blocks.iter().flat_map(|block| block.entries.iter().copied()).collect();
        assert_eq!(found, expected);
        for block in order.blocks() {
            assert_eq!(block.entries.last(), Some(&block.last));
            let mut most = Room::default();
            block.positions().for_each(|at| most.raise(&free[at as usize]));
            assert!(block.most.covers(&most), "{:?} {most:?}", block.most);
        }
    }

    proptest! {
        #[test]
        fn an_order_stays_sorted_and_never_hides_room(
            size in 1usize..400,
            changes in proptest::collection::vec((0usize..400, 0u64..50, 0u32..100), 0..300),
        ) {
            let mut keys: Vec<Key> = (0..size as u64).map(|n| n % 7).collect();
            let mut free = vec![Room { cores: 100, memory: 100, ..Room::default() }; size];
            let open: Vec<u32> = (0..number(size)).filter(|at| at % 5 != 3).collect();
            let mut order = Order::of(&keys, &open, &free);
            for (at, key, cores) in changes {
                let at = open[at % open.len()] as usize;
                let before = free[at];
                free[at].cores = free[at].cores.min(cores);
                let from = std::mem::replace(&mut keys[at], key);
                order.follow(&Moved { at: number(at), from, to: key, before }, &free);
            }
            order_is_whole(&order, &keys, &open, &free);
        }

        #[test]
        fn reach_finds_what_looking_at_all_finds(
            rooms in proptest::collection::vec((0u32..9, 0u64..9), 0..300),
            asked in (0u32..9, 0u64..9),
        ) {
            let room = |(cores, memory)| Room { cores, memory, ..Room::default() };
            let rooms: Vec<Room> = rooms.into_iter().map(room).collect();
            let asked = room(asked);
            let all: Vec<usize> = (0..rooms.len()).filter(|at| rooms[*at].covers(&asked)).collect();
            prop_assert_eq!(Reach::of(rooms).covering(&asked).collect::<Vec<_>>(), all);
        }
    }
}
