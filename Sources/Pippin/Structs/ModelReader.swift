import CoreData

/// Reads the models of a type from rows, wherever these come from.
struct ModelReader<Model: CoreModel & Codable>: Sendable {
    let plan: EntityPlan
    let registry: ModelRegistry

    func selection(
        _ filter: Filter<Model>, _ order: Order<Model> = [], _ limit: Int? = nil, _ offset: Int = 0
    ) throws -> RecordSelection {
        var selection = RecordSelection(predicate: try filter.predicate(plan, registry))
        selection.sortDescriptors = order.terms.isEmpty ? nil : try order.sortDescriptors(plan, registry)
        selection.limit = limit
        selection.offset = offset
        return selection
    }

    func selection(uid: Model.UidType) -> RecordSelection {
        var selection = RecordSelection.uid(uid, key: plan.uidKey)
        selection.limit = 1
        return selection
    }

    func models(_ selection: RecordSelection, _ source: any StructRows) throws -> [Model] {
        // A limit of 0 would mean none to Core Data.
        if selection.limit.map({ $0 <= 0 }) ?? false { return [] }
        return try StructAssembler(registry: registry, source: source).models(Model.self, of: plan, selection)
    }

    func models(inOrderOf uids: [Model.UidType], _ source: any StructRows) throws -> [Model] {
        var found: [Model.UidType: Model] = [:]
        for portion in Array(Set(uids)).portions(of: 500) {
            for model in try models(.uids(portion, key: plan.uidKey), source) { found[model.uid] = model }
        }
        return uids.compactMap { found[$0] }
    }
}
