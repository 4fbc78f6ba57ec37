//! What the devices of a run count.

use std::sync::Arc;

use super::index::PlanIndex;
use super::spec::DeviceSpec;
use crate::engine::{Launcher, Plan};

/// The devices of a run, and the way from a plan to them.
pub(super) struct DeviceRoute {
    /// None if they count none of the plans.
    pub(super) devices: Vec<DeviceSpec>,
    /// The plan that they count, and what makes their launches: the first plan that has a launcher.
    pub(super) launcher: Option<(PlanIndex, Arc<dyn Launcher>)>,
    /// Whether CPU workers leave that plan to them.
    pub(super) is_theirs_alone: bool,
}

impl DeviceRoute {
    /// So many CPU workers were asked for beside the devices.
    pub(super) fn new(plans: &[Arc<dyn Plan>], devices: &[DeviceSpec], workers: usize) -> Self {
        let mut plans = plans.iter().enumerate().filter(|_| !devices.is_empty());
        let launcher = plans.find_map(|(at, plan)| Some((PlanIndex(at), plan.launcher().ok()?)));
        Self {
            devices: devices
                .iter()
                .filter(|_| launcher.is_some())
                .cloned()
                .collect(),
            is_theirs_alone: launcher.is_some() && workers == 0,
            launcher,
        }
    }

    /// The plan that devices count; `None` if there are none.
    pub(super) fn plan(&self) -> Option<PlanIndex> {
        self.launcher.as_ref().map(|(plan, _)| *plan)
    }

    /// Whether there are devices and they count this plan.
    pub(super) fn counts(&self, plan: PlanIndex) -> bool {
        self.plan() == Some(plan)
    }
}
