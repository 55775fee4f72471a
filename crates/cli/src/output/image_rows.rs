//! Images and containers in lists.

use hostler_api::image::{ImageNodeView, ImageView};
use hostler_model::{NodeContainer, NodeImage, Timestamp};
use serde::Serialize;

use super::rows::when;
use super::{Cell, Column, Show, column, wide};

/// Of an id, as much as people need.
fn short(id: &str) -> String {
    id.trim_start_matches("sha256:").chars().take(12).collect()
}

impl Show for ImageView {
    const KIND: &'static str = "image";
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("VERSION"),
        column("SIZE"),
        column("CREATED"),
        column("BY"),
        column("ORIGIN"),
        wide("DIGEST"),
    ];
    fn id(&self) -> String {
        format!("{}:{}", self.name, self.version)
    }
    fn name(&self) -> String {
        format!("{}:{}", self.name, self.version)
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(self.id),
            Cell::new(&self.name),
            Cell::new(self.version),
            Cell::new(self.size),
            when(Some(self.time_created), now, is_wide),
            Cell::new(&self.created_by.name),
            Cell::new(&self.origin),
            Cell::new(self.digest),
        ]
    }
}

/// A version with the nodes that were asked for it.
#[derive(Serialize)]
pub struct ImageWithNodes {
    #[serde(flatten)]
    pub image: ImageView,
    /// Absent for who may not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<ImageNodeView>>,
}

impl Show for ImageWithNodes {
    const KIND: &'static str = ImageView::KIND;
    const COLUMNS: &'static [Column] = &[
        wide("ID"),
        column("NAME"),
        column("VERSION"),
        column("SIZE"),
        column("CREATED"),
        column("BY"),
        column("ORIGIN"),
        wide("DIGEST"),
        column("NODES"),
    ];
    fn id(&self) -> String {
        self.image.id()
    }
    fn name(&self) -> String {
        self.image.name()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        let nodes = self.nodes.iter().flatten().filter(|told| told.is_here == Some(true));
        let nodes: Vec<&str> = nodes.map(|told| told.node.as_str()).collect();
        let mut cells = self.image.cells(now, is_wide);
        cells.push(Cell::new(nodes.join(",")));
        cells
    }
}

impl Show for NodeImage {
    const KIND: &'static str = "image";
    const COLUMNS: &'static [Column] =
        &[column("ID"), column("NAMES"), column("KEPT"), column("SIZE"), column("CREATED")];
    fn id(&self) -> String {
        self.id.clone()
    }
    fn name(&self) -> String {
        let name = self.names.first().or(self.kept.first()).unwrap_or(&self.id);
        name.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(if is_wide { self.id.clone() } else { short(&self.id) }),
            Cell::new(self.names.join(",")),
            Cell::new(self.kept.join(",")),
            Cell::new(self.size),
            when(Some(self.time_created), now, is_wide),
        ]
    }
}

impl Show for NodeContainer {
    const KIND: &'static str = "container";
    const COLUMNS: &'static [Column] = &[
        column("ID"),
        column("NAME"),
        column("IMAGE"),
        column("STATE"),
        column("STATUS"),
        column("CREATED"),
        column("RUN"),
        wide("COMMAND"),
    ];
    fn id(&self) -> String {
        self.id.clone()
    }
    fn name(&self) -> String {
        self.name.clone()
    }
    fn cells(&self, now: Timestamp, is_wide: bool) -> Vec<Cell> {
        vec![
            Cell::new(if is_wide { self.id.clone() } else { short(&self.id) }),
            Cell::new(&self.name),
            Cell::new(if is_wide { self.image.clone() } else { short(&self.image) }),
            Cell::new(&self.state),
            Cell::new(&self.status),
            when(Some(self.time_created), now, is_wide),
            self.run.into(),
            Cell::new(&self.command),
        ]
    }
}
