import StoreSession

extension ChangedRows {
    /// Saves what has changed.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - session: the store's session.
    ///   - transaction: the transaction of the save.
    ///   - check: throws for changes that break a rule.
    /// - Throws: `NeedsObjects`, `SaveRefusal` for conflicts, and the errors of the store; then nothing is
    ///   written.
    func commit(
        to store: SessionStore, of session: StoreSession, in transaction: OptimisticTransaction,
        checking check: (ChangeSet) throws -> Void
    ) throws {
        let unsaved = UnsavedChanges(session, store, transaction)
        if let set = try changeSet(unsaved) { unsaved.add(set) }
        try unsaved.save(checking: check)
    }

    /// Deletes rows, and what they own, except for some: these leave owners that are deleted.
    ///
    /// - Parameters:
    ///   - rows: the rows to delete.
    ///   - kept: the rows that stay.
    ///   - stored: those that may have owners in the store.
    /// - Throws: the errors of reading.
    func delete(_ rows: [Int], keeping kept: Set<Int>, stored: [Int]) throws {
        let going = Set(rows).subtracting(kept)
        guard !going.isEmpty else { return }
        let owners = DeletedOwners(of: going, kept, self)
        for number in stored {
            for back in owners.relationships[ObjectIdentifier(entries[number].layout)] ?? [] {
                let present = try ends(of: back, at: number)
                let staying = try present.filter { try !owners.goes($0) }
                if staying.count < present.count { try connect(back, of: number, to: staying) }
            }
        }
        for number in rows where going.contains(number) { delete(number) }
    }
}

/// Which owners are deleted, by themselves or with what owns them.
private final class DeletedOwners {
    /// The relationships to owners, by entity, of everything that is deleted along with some rows.
    private(set) var relationships: [ObjectIdentifier: [RelationshipLayout]] = [:]
    private let changed: ChangedRows
    private let going: Set<Int>
    private let kept: Set<Int>
    /// The owners that were found: many rows may have the same ones above them.
    private var known: [Int: Bool] = [:]

    init(of going: Set<Int>, _ kept: Set<Int>, _ changed: ChangedRows) {
        (self.going, self.kept, self.changed) = (going, kept, changed)
        var layouts = going.map { changed.entries[$0].layout }
        var seen = Set(layouts.map(ObjectIdentifier.init))
        layouts = seen.compactMap { id in layouts.first { ObjectIdentifier($0) == id } }
        while let layout = layouts.popLast() {
            for relationship in layout.relationships where relationship.deleteRule == .cascadeDeleteRule {
                guard let back = relationship.inverse else { continue }
                relationships[ObjectIdentifier(relationship.destination), default: []].append(back)
                if seen.insert(ObjectIdentifier(relationship.destination)).inserted {
                    layouts.append(relationship.destination)
                }
            }
        }
    }

    /// Whether an owner is deleted.
    func goes(_ owner: Int) throws -> Bool {
        var queue = [owner]
        var seen = Set(queue)
        var origins: [Int: Int] = [:]
        while let next = queue.popLast() {
            if known[next] ?? going.contains(next) {
                var end: Int? = next
                while let one = end {
                    known[one] = true
                    end = origins[one]
                }
                return true
            }
            if known[next] == false || kept.contains(next) { continue }
            for back in relationships[ObjectIdentifier(changed.entries[next].layout)] ?? [] {
                for end in try changed.ends(of: back, at: next) where seen.insert(end).inserted {
                    origins[end] = next
                    queue.append(end)
                }
            }
        }
        for end in seen { known[end] = false }
        return false
    }
}
