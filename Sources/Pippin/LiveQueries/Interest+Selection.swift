import StoreSession

extension Interest {
    /// A fetch of models from the first one on.
    struct Selection: Sendable {
        let plan: EntityPlan
        /// The entities of the models and of the models in them, with the names of the lists that they show.
        let lists: [String: Set<String>]
        /// Whether models of the type lead to others of the same type.
        let isWithinItself: Bool
        let predicate: @Sendable () throws -> NSPredicate?

        /// - Parameters:
        ///   - plan: the models.
        ///   - registry: knows the models in them.
        ///   - predicate: the filter.
        /// - Throws: ``PersistenceError`` for a model that the registry does not know.
        init(
            _ plan: EntityPlan, _ registry: ModelRegistry, predicate: @escaping @Sendable () throws -> NSPredicate?
        ) throws {
            self.plan = plan
            self.predicate = predicate
            var lists: [String: Set<String>] = [:]
            var isWithinItself = false
            var queue = [plan]
            while let next = queue.popLast() {
                lists[next.name] = Set(next.fields.lazy.filter(\.isToMany).map(\.name))
                for field in next.fields {
                    guard let related = field.related else { continue }
                    let destination = try registry.plan(related)
                    if destination === plan { isWithinItself = true }
                    if lists[destination.name] == nil { queue.append(destination) }
                }
            }
            self.lists = lists
            self.isWithinItself = isWithinItself
        }

        /// Whether the filter uses only attributes of the models; false if it cannot be made.
        var isPlainFilter: Bool {
            do { return isPlain(try predicate()) } catch { return false }
        }

        /// Whether a filter uses only attributes of the models.
        func isPlain(_ predicate: NSPredicate?) -> Bool {
            let attributes = Set(plan.fields.lazy.filter { $0.related == nil }.map(\.name))
            func isPlain(_ predicate: NSPredicate) -> Bool {
                switch predicate {
                case let compound as NSCompoundPredicate: compound.subpredicates.allSatisfy(isPlain)
                case let comparison as NSComparisonPredicate:
                    comparison.leftExpression.expressionType == .keyPath
                        && comparison.rightExpression.expressionType == .constantValue
                        && attributes.contains(comparison.leftExpression.keyPath)
                default: false
                }
            }
            return predicate.map(isPlain) ?? true
        }
    }
}
