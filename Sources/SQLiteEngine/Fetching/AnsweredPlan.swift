import CoreDataModel
import Foundation
import StoreEngine

/// Whether the latest plan was left to the caller.
struct AnsweredPlan {
    /// A predicate or a sort descriptor, not retained, since predicates retain the objects that they compare with. A
    /// released one equals no other.
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
