import CompactCollections
import StoreSession

// A plan only knows the entities of its versions. A store may have more, of other programs, which are migrated
// along.
extension CheckedPlan {
    /// The plan for a store, and the version of the store.
    ///
    /// - Throws: ``PersistenceError/Code/unknownStoreVersion``, and the errors of opening a store.
    func adapted(
        to url: URL, ofType type: String, _ metadata: [String: Any], _ options: [AnyHashable: Any]
    ) throws -> (plan: CheckedPlan, start: Int) {
        for index in models.indices.reversed() {
            if models[index].isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) {
                return (self, index)
            }
        }
        for index in models.indices.reversed() {
            guard
                let store = try StoreFormats.migratable(ofType: type)?.reconciliation(
                    at: url, program: models[index], rules: ReconciliationRules(), options: options),
                !store.isMigrationNeeded, store.reconciliation.losses.isEmpty,
                !store.reconciliation.leftAlone.isEmpty
            else { continue }
            return (try carrying(store, from: index), index)
        }
        throw PersistenceError.unknownStoreVersion(
            store: url.lastPathComponent, known: plan.versions.map(\.name))
    }

    /// The plan, with the store's additional entities in each version from its own on.
    private func carrying(_ store: any ReconcilableStore, from start: Int) throws -> CheckedPlan {
        var extended = models
        var document = store.reconciliation.model
        extended[start] = store.model
        for index in models.indices.dropFirst(start + 1) {
            let former = try ModelDocument(models[index - 1])
            let present = try ModelDocument(models[index])
            // An entity that the previous version had and this one lacks was removed by the plan, and is not
            // another program's.
            let names = ModelReconciliation(program: present, stored: former, rules: ReconciliationRules())
            let kept = Set(present.entities.compactMap { names.formerName(ofEntity: $0.name) })
            var rules = ReconciliationRules()
            rules.removedEntities = Set(former.entities.map(\.name)).subtracting(kept)
            document = ModelReconciliation(program: present, stored: document, rules: rules).model
            let hashes = store.model.entities.compactMap { entity in
                entity.recordedVersionHash.map { (entity.name ?? "", $0) }
            }
            extended[index] = try ModelAssembler.model(
                document, versionHashes: Dictionary(hashes, uniquingKeysWith: { first, _ in first }))
        }
        return try CheckedPlan(plan, over: extended, carrying: Set(store.reconciliation.leftAlone))
    }
}
