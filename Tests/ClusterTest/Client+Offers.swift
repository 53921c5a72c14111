import CoreDataPostgres
import Foundation

// Offers have two values each, and are changed, deleted and made anew by all at the same time, under every merge
// policy.
extension Client {
    /// How many offers all clients work on.
    static let offers = 6

    /// A policy that remembers what it had to settle.
    private final class Policy: NSMergePolicy, @unchecked Sendable {
        // @unchecked Sendable: one thread uses it, for one save.
        private(set) var metOthers = false
        /// The object of the row that had an offer's number already.
        private(set) var survivor: NSManagedObject?
        private(set) var rowWasGone = false

        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            rowWasGone = rowWasGone || list.contains { $0.newVersionNumber == 0 }
            try super.resolve(optimisticLockingConflicts: list)
        }

        override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
            metOthers = true
            survivor = list.last?.databaseObject ?? survivor
            try super.resolve(constraintConflicts: list)
        }
    }

    private static let policies: [NSMergePolicyType] = [
        .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
        .overwriteMergePolicyType, .rollbackMergePolicyType,
    ]

    /// Changes one offer under some policy, and writes down what that must have done to each of its values.
    func merge(_ context: NSManagedObjectContext) {
        sequence += 1
        let (offer, stamp) = (Int.random(in: 0..<Self.offers, using: &random), "\(number)-\(sequence)")
        let policy = Policy(merge: Self.policies.randomElement(using: &random) ?? .errorMergePolicyType)
        let (choice, pause) = (
            Int.random(in: 0..<10, using: &random), UInt32.random(in: 0..<30_000, using: &random)
        )
        let start = now()
        var save = Entry(.merge, .refused, client: number, sequence: sequence, order: offer, start: start, end: start)
        context.performAndWait {
            context.mergePolicy = policy
            var values: [Entry] = []
            do {
                let found = try self.offer(offer, context)
                for side in 0...1 {
                    write(
                        value(offer, side, "read", found?.value(forKey: Self.side(side)) as? String ?? "", start, now())
                    )
                }
                // Others come in between.
                usleep(pause)
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue(number, forKey: "client")
                note.setValue(sequence, forKey: "sequence")
                let sides = found == nil || choice == 0 ? [0, 1] : choice < 5 ? [0] : choice < 9 ? [1] : []
                let object = found ?? NSEntityDescription.insertNewObject(forEntityName: "Offer", into: context)
                object.setValue(offer, forKey: "number")
                for side in sides { object.setValue(stamp, forKey: Self.side(side)) }
                if sides.isEmpty { context.delete(object) }
                let outcome = try saved(context)
                save.outcome = outcome
                let present = policy.survivor ?? object
                let shown = present.isDeleted || present.managedObjectContext == nil ? nil : present
                // Whole objects win under this policy, and where an object becomes another row, or a new one.
                let isWhole =
                    policy.mergeType == .overwriteMergePolicyType
                    || policy.mergeType == .mergeByPropertyObjectTrumpMergePolicyType
                        && (policy.metOthers || policy.rowWasGone)
                for side in 0...1 {
                    let after = shown?.value(forKey: Self.side(side)) as? String ?? ""
                    let isWritten = isWhole || after == stamp || sides.isEmpty && shown == nil && !policy.rowWasGone
                    values.append(value(offer, side, isWritten ? "write" : "read", after, start, now()))
                }
            } catch { note(error) }
            save.end = now()
            for var value in values {
                value.outcome = save.outcome
                value.end = save.end
                write(value)
            }
        }
        if save.outcome == .done || save.outcome == .foundDone { latestSaved = sequence }
        write(save)
    }

    /// Saves, and asks what became of it where that is not said.
    private func saved(_ context: NSManagedObjectContext) throws -> Entry.Outcome {
        do {
            try context.save()
            return .done
        } catch {
            guard let save = NSPostgreSQLUndecidedSave(of: error) else { throw error }
            return ask(save)
        }
    }

    private static func side(_ side: Int) -> String { side == 0 ? "left" : "right" }

    private func value(
        _ offer: Int, _ side: Int, _ kind: String, _ value: String, _ start: UInt64, _ end: UInt64
    ) -> Entry {
        Entry(
            .value, .done, client: number, sequence: sequence, order: offer * 2 + side, start: start, end: end,
            from: kind, to: value)
    }

    private func offer(_ number: Int, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Offer")
        request.predicate = NSPredicate(format: "number == %d", number)
        return try context.fetch(request).first
    }
}
