import Dispatch
import Foundation
import SyncPlanning

/// A model that differed from the server's, past both histories, and is now as it is there.
public struct RepairedModel: Sendable, Hashable, CustomStringConvertible {
    /// How it differed.
    public enum Kind: Hashable, Sendable {
        /// It was not here.
        case wasMissing
        /// It was not on the server.
        case wasExtra
        /// These properties had other values.
        case differed([String])
    }

    /// The entity's name.
    public let entity: String
    /// The model's identifier, as text.
    public let id: String
    /// How it differed.
    public let kind: Kind

    init(_ change: PageChange) {
        (entity, id) = (change.id.entity, change.id.key.string)
        switch change {
        case .row: kind = .wasMissing
        case .values(_, let values, _): kind = .differed(values.keys.sorted())
        case .deleted, .left, .forwarded: kind = .wasExtra
        }
    }

    /// The model and how it differed, for logs.
    public var description: String {
        switch kind {
        case .wasMissing: "\(entity) \(id) was missing"
        case .wasExtra: "\(entity) \(id) was not on the server"
        case .differed(let properties): "\(entity) \(id) differed in \(properties.joined(separator: ", "))"
        }
    }
}

/// A change that the server, or the device itself, did not take: the row's part of a saved transaction.
public struct RefusedSave: Sendable, CustomStringConvertible {
    /// Why a change was not taken.
    public enum Reason: Hashable, Sendable {
        /// Another model has the values of these properties, which only one may have.
        case valueIsTaken(properties: [String], by: String?)
        /// Somebody else has deleted the model before.
        case isDeleted
        /// Somebody who did not know of the deletion has changed the model before.
        case isChanged
        /// A reference leads to a model that is not there.
        case missingReference(property: String, id: String)
        /// A required property has no value.
        case missingValue(property: String)
        /// Other models refer to the deleted one that must not lose it.
        case isNeeded(by: String)
        /// It builds on a model that was not taken.
        case dependsOnRefused(id: String)
        /// The server's models do not have the property.
        case unknownProperty(String)
        /// The user may not write such models.
        case notAllowed
    }

    /// What the program did to the model.
    public enum Kind: Hashable, Sendable { case inserted, changed, deleted }

    /// The entity's name.
    public let entity: String
    /// The model's identifier, as text.
    public let id: String
    /// What the program did to it.
    public let kind: Kind
    /// Why it was not taken.
    public let reason: Reason
    /// The properties that were set.
    public let properties: [String]
    /// The only one of them that was not taken; nil if that is all of the change.
    public let property: String?

    private let entry: DeviceContent.JournalEntry
    private let runner: SyncRunner

    init(_ entry: DeviceContent.JournalEntry, _ runner: SyncRunner) {
        (self.entry, self.runner) = (entry, runner)
        let change = entry.refused.change
        (entity, id) = (change.id.entity, change.id.key.string)
        reason = Reason(entry.refused.reason)
        switch change.edit {
        case .insert: kind = .inserted
        case .update: kind = .changed
        case .delete: kind = .deleted
        }
        properties = change.newValues.keys.sorted()
        property = entry.refused.property
    }

    /// The change and the reason, for logs.
    public var description: String { "\(entity) \(id) was not \(kind): \(reason)" }

    /// The value that a property of the model had here; nil for none.
    ///
    /// - Parameter property: the property's name.
    /// - Returns: the value as text.
    public func value(of property: String) -> String? {
        (entry.refused.change.newValues[property] ?? entry.values[property]).flatMap(Self.text)
    }

    /// Saves what was not taken once more, on top of what the model is now. A model that was deleted is there again,
    /// whole.
    ///
    /// - Throws: what saving throws.
    public func saveAgain() async throws {
        let number = entry.number
        try await Self.off(runner) { runner in
            try runner.device.settle(number) { entry -> PlannedRow? in
                if case .delete = entry.refused.change.edit { return nil }
                return PlannedRow(values: entry.values.merging(entry.refused.change.newValues) { $1 })
            }
        }
    }

    /// Forgets the change.
    ///
    /// - Throws: what writing to the store throws.
    public func discard() async throws {
        let number = entry.number
        try await Self.off(runner) { try $0.device.settle(number, nil) }
    }

    static func off<Result: Sendable>(
        _ runner: SyncRunner, _ work: @escaping @Sendable (SyncRunner) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Swift.Result { try work(runner) }) }
        }
    }

    private static func text(_ value: SyncValue) -> String? {
        switch value {
        case .null: nil
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .double(let number): "\(number.value)"
        case .decimal(let digits): digits
        case .text(let text): text.string
        case .date(let time): Date(timeIntervalSince1970: Double(time) / 1_000_000).ISO8601Format()
        case .bytes(let bytes): Data(bytes).base64EncodedString()
        case .reference(let id): id.key.string
        case .list(let ids): ids.map(\.key.string).joined(separator: ", ")
        case .set(let values): values.compactMap(text).sorted().joined(separator: ", ")
        }
    }
}

extension RefusedSave.Reason {
    init(_ reason: RefusalReason) {
        switch reason {
        case .uniqueValueTaken(let properties, let other):
            self = .valueIsTaken(properties: properties, by: other?.key.string)
        case .rowDeleted, .rowLeftScope: self = .isDeleted
        case .rowEdited: self = .isChanged
        case .missingReference(let property, let id): self = .missingReference(property: property, id: id.key.string)
        case .missingValue(let property): self = .missingValue(property: property)
        case .deletionDenied(let id): self = .isNeeded(by: id.key.string)
        case .notAuthorized: self = .notAllowed
        case .dependsOnRefused(let id): self = .dependsOnRefused(id: id.key.string)
        case .unknownProperty(let property): self = .unknownProperty(property)
        }
    }
}
