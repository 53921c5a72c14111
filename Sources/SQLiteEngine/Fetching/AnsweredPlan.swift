import CoreDataModel
import Foundation
import StoreEngine

/// Whether what a plan asks for is left to the asker, as it was found for the plan that was looked at last.
struct AnsweredPlan {
    private let entity: EntityLayout
    private let predicate: NSPredicate?
    private let order: [NSSortDescriptor]
    let isLeft: Bool

    init(_ plan: FetchPlan, isLeft: Bool) {
        (entity, predicate, order) = (plan.entity, plan.predicate, plan.sortDescriptors)
        self.isLeft = isLeft
    }

    func isOf(_ plan: FetchPlan) -> Bool {
        entity === plan.entity && predicate === plan.predicate && order.elementsEqual(plan.sortDescriptors, by: ===)
    }
}
