//! What the devices of a run count.

use std::sync::Arc;

use super::index::PlanIndex;
use super::spec::DeviceSpec;
use crate::engine::{Launcher, Plan};

/// The devices of a run, and the way from a plan to them.
pub(super) struct DeviceRoute {
    pub(super) devices: Vec<DeviceSpec>,
    /// The plan that they count, and what makes their launches: the first plan that has a launcher.
    /// `None` without devices.
    pub(super) launcher: Option<(PlanIndex, Arc<dyn Launcher>)>,
}

impl DeviceRoute {
    pub(super) fn new(plans: &[Arc<dyn Plan>], devices: &[DeviceSpec]) -> Self {
        let mut plans = plans.iter().enumerate().filter(|_| !devices.is_empty());
        Self {
            launcher: plans.find_map(|(at, plan)| Some((PlanIndex(at), plan.launcher().ok()?))),
            devices: devices.to_vec(),
        }
    }

    /// The plan that devices count; `None` if they count none, or there are no devices.
    pub(super) fn plan(&self) -> Option<PlanIndex> {
        self.launcher.as_ref().map(|(plan, _)| *plan)
    }

    /// Whether there are devices and they count this plan.
    pub(super) fn counts(&self, plan: PlanIndex) -> bool {
        self.plan() == Some(plan)
    }
}
