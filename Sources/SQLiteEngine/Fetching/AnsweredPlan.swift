import CoreDataModel
import Foundation
import StoreEngine

/// Whether what a plan asks for is left to the asker, as it was found for the plan that was looked at last.
struct AnsweredPlan {
    /// A predicate or a sort descriptor, not kept alive: predicates keep the objects that they compare with. One that is gone equals none.
    private struct Part { weak var object: AnyObject? }

    private let entity: EntityLayout
    private let predicate: Part?
    private let order: [Part]
    let isLeft: Bool

    init(_ plan: FetchPlan, isLeft: Bool) {
        entity = plan.entity
        predicate = plan.predicate.map { Part(object: $0) }
        order = plan.sortDescriptors.map { Part(object: $0) }
        self.isLeft = isLeft
    }

    func isOf(_ plan: FetchPlan) -> Bool {
        guard entity === plan.entity, (predicate == nil) == (plan.predicate == nil) else { return false }
        return (predicate == nil || predicate?.object === plan.predicate)
            && order.elementsEqual(plan.sortDescriptors) { $0.object === $1 }
    }
}
