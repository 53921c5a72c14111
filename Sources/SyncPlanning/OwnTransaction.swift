/// What a device's program saved at once.
package struct OwnTransaction: Hashable, Sendable {
    /// Its number in the device's own history.
    package var number: UInt64
    /// The device's clocks when it was saved.
    package var reading: ClockReading
    /// When it was saved by the server's clock; set when it is sent.
    package var time: Int64?
    package var changes: [RowChange]
    /// Whether the server took this once and lost it, being restored from a backup.
    package var isRepeated = false

    package init(number: UInt64, reading: ClockReading, changes: [RowChange]) {
        self.number = number
        self.reading = reading
        self.changes = changes
    }
}

/// A row's part of a transaction.
package struct RowChange: Hashable, Sendable {
    package enum Edit: Hashable, Sendable {
        case insert([String: SyncValue])
        case update([String: ValueChange])
        case delete
    }

    package var id: RowID
    /// The server's history as far as the device knew it when it made the change.
    package var base: HistoryNumber
    /// The server's history as far as the program's closures have seen it; at first the base.
    package var seen: HistoryNumber
    package var edit: Edit
    /// The saved change that this one is, or is a part of.
    package var origin: ChangeOrigin
    /// The saved changes that a closure has merged into this one, by property.
    package var merged: [String: Set<ChangeOrigin>] = [:]
    /// Whether the later edit decides, because the program's closure has failed twice.
    package var skipsClosure = false

    package init(_ id: RowID, base: HistoryNumber, _ edit: Edit, origin: ChangeOrigin) {
        self.id = id
        self.base = base
        seen = base
        self.edit = edit
        self.origin = origin
    }

    /// The values that the change sets.
    package var newValues: [String: SyncValue] {
        switch edit {
        case .insert(let values): values
        case .update(let changes): changes.mapValues(\.new)
        case .delete: [:]
        }
    }
}

/// A property's former value and its new one.
package struct ValueChange: Hashable, Sendable {
    package var old: SyncValue
    package var new: SyncValue

    package init(old: SyncValue, new: SyncValue) {
        self.old = old
        self.new = new
    }
}

/// A change as it was saved: the transaction in the device's history, and the place in it.
package struct ChangeOrigin: Hashable, Comparable, Sendable {
    package var transaction: UInt64
    package var place: Int

    package init(transaction: UInt64, place: Int) {
        self.transaction = transaction
        self.place = place
    }

    package static func < (one: ChangeOrigin, other: ChangeOrigin) -> Bool {
        (one.transaction, one.place) < (other.transaction, other.place)
    }
}

/// Why the server, or the device itself, did not take something.
package enum RefusalReason: Hashable, Sendable {
    /// Another row has the values that only one may have; nil if this user may not see that row.
    case uniqueValueTaken(properties: [String], by: RowID?)
    /// The row was deleted before.
    case rowDeleted
    /// The row left this device's scopes.
    case rowLeftScope
    /// The row was edited before by somebody who did not know of the deletion.
    case rowEdited
    /// A reference leads to a row that is not there.
    case missingReference(property: String, RowID)
    /// A required property has no value.
    case missingValue(property: String)
    /// Rows refer to the deleted one that must not lose it.
    case deletionDenied(by: RowID)
    /// The user may not write rows of this scope.
    case notAuthorized(SyncScope?)
    /// It builds on a row that a refused transaction was to insert.
    case dependsOnRefused(RowID)
    /// The server's schema does not have the entity or the property.
    case unknownProperty(String)
}

/// A change that was not taken, for the journal. The rest of its transaction may have been.
package struct RefusedChange: Hashable, Sendable {
    /// The number of the transaction in the device's own history.
    package var transaction: UInt64
    package var change: RowChange
    /// The property that was not taken; nil for the whole change.
    package var property: String?
    package var reason: RefusalReason

    package init(transaction: UInt64, change: RowChange, property: String? = nil, reason: RefusalReason) {
        self.transaction = transaction
        self.change = change
        self.property = property
        self.reason = reason
    }
}

extension OwnTransaction {
    /// The transaction without what was not taken.
    func without(_ refused: [RefusedChange]) -> OwnTransaction {
        var transaction = self
        for item in refused {
            guard
                let place = transaction.changes.firstIndex(where: {
                    $0.origin == item.change.origin && $0.id == item.change.id
                })
            else { continue }
            guard let property = item.property else {
                transaction.changes.remove(at: place)
                continue
            }
            switch transaction.changes[place].edit {
            case .insert(var values):
                values[property] = nil
                transaction.changes[place].edit = .insert(values)
            case .update(var changes):
                changes[property] = nil
                transaction.changes[place].edit = .update(changes)
            case .delete: break
            }
        }
        return transaction
    }
}

extension RowChange {
    /// The change with another row in place of one.
    func replacing(_ id: RowID, by other: RowID) -> RowChange {
        var change = self
        if change.id == id { change.id = other }
        switch edit {
        case .insert(let values): change.edit = .insert(values.mapValues { $0.replacing(id, by: other) })
        case .update(let changes):
            change.edit = .update(
                changes.mapValues {
                    ValueChange(old: $0.old.replacing(id, by: other), new: $0.new.replacing(id, by: other))
                })
        case .delete: break
        }
        return change
    }
}
