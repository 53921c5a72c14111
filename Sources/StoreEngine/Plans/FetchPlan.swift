import CoreDataModel
import Foundation

/// A fetch in the form for a store: the request with its entity resolved, without the parts that only concern contexts.
package struct FetchPlan {
    package var entity: EntityLayout
    package var includesSubentities = true
    package var predicate: NSPredicate?
    package var sortDescriptors: [NSSortDescriptor] = []
    package var limit = 0
    package var offset = 0
    /// For dictionaries: the columns, the groups, and the condition on the groups.
    package var columns: [FetchColumn] = []
    package var groupBy: [String] = []
    /// The computed columns among the groups that the dictionaries do not have.
    package var groupColumns: [FetchColumn] = []
    package var having: NSPredicate?
    package var isDistinct = false

    package init(entity: EntityLayout) { self.entity = entity }

    /// The entities whose rows are fetched.
    package var entities: [EntityLayout] { includesSubentities ? entity.selfAndSubentities : [entity] }
}

/// One value of each dictionary of a dictionary fetch.
package enum FetchColumn {
    /// An attribute or to-one relationship, or a key path through to-one relationships.
    case keyPath(String)
    /// A computed value with a name and a type.
    case expression(name: String, NSExpression, NSAttributeType)

    /// The key in the dictionary.
    package var name: String {
        switch self {
        case .keyPath(let path): return path
        case .expression(let name, _, _): return name
        }
    }
}

extension FetchPlan {
    /// Whether the predicate or a sort descriptor is Swift code, which no store can run; for some stores, the context
    /// does.
    package var isCode: Bool {
        if let predicate, (try? predicateTree(of: predicate)) == nil { return true }
        return !sortDescriptors.isEmpty && (try? sortTerms(of: sortDescriptors)) == nil
    }

    /// Whether the predicate has a variable without a value, so that it cannot be evaluated.
    package var hasOpenVariable: Bool {
        predicate.flatMap { try? predicateTree(of: $0) }?.openVariable != nil
    }

    /// All objects, in any order.
    package var withoutConditions: FetchPlan {
        var plan = self
        plan.predicate = nil
        plan.sortDescriptors = []
        return plan
    }
}
