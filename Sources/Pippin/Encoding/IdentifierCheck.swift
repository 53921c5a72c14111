extension RecordEncoder {
    /// Checks that the model that was appended last is stored under its own identifier. A computed one may be another
    /// value than that of the property which the store finds it by, and which another model may have as well.
    ///
    /// - Parameters:
    ///   - key: the model's identifier.
    ///   - plan: the model.
    /// - Throws: ``PersistenceError/Code/unwritable``
    @inline(__always)
    func checkIdentifier(_ key: RecordKey, of plan: EntityPlan) throws {
        guard plan.computesIdentifier else { return }
        try compare(key, plan)
    }

    @inline(never)
    private func compare(_ key: RecordKey, _ plan: EntityPlan) throws {
        // In the form in which identifiers are compared, whatever the attribute's kind.
        guard let stored = RecordKey(values[base + plan.uidField], .integer64), stored != key else { return }
        throw PersistenceError.unwritable(
            entity: plan.name, uid: key.text, key: "id",
            reason:
                "the store finds it by '\(plan.uidKey)', which is '\(stored.text)'. Let the model store its identifier, or return "
                + "'\(plan.uidKey)' from it as it is.")
    }
}
