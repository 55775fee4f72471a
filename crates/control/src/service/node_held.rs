//! What is reserved of nodes, as placement counts it.

use hostler_engine::place::NodeOffer;
use hostler_model::{Error, GpuHold, GpuShareSize};

use crate::reconcile::scene::offers;
use crate::{Control, Cx, NodeHeld, NumaHeld};

impl Control {
    /// What is reserved of every node that is there, by name.
    pub async fn node_held_list(&self, _: &Cx) -> Result<Vec<NodeHeld>, Error> {
        let mut held: Vec<NodeHeld> =
            offers(&mut *self.store.read().await?).await?.into_iter().map(held).collect();
        held.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(held)
    }
}

fn held(offer: NodeOffer) -> NodeHeld {
    let numa = offer.numa.into_iter().map(|numa| NumaHeld {
        index: numa.index,
        cores: numa.used_cores,
        memory: numa.used_memory,
    });
    let gpus = offer
        .gpus
        .into_iter()
        .filter(|gpu| gpu.used > 0)
        .map(|gpu| GpuHold { index: gpu.index, share: GpuShareSize::from_millis(gpu.used) });
    NodeHeld {
        id: offer.id,
        name: offer.name,
        placements: offer.runs,
        cores: offer.used.cores,
        memory: offer.used.memory,
        disk: offer.used.disk,
        cpus: offer.held,
        numa: numa.collect(),
        gpus: gpus.collect(),
    }
}
