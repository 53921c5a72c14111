/// An engine that changes rows without handing them out, in one transaction each.
package protocol BatchEngine: StoreEngine {
    /// Writes new rows, or nothing.
    ///
    /// - Parameters:
    ///   - plan: the entity and the properties that get values.
    ///   - next: fills in the next row; returns false if there is none.
    /// - Returns: the result of the insertion.
    /// - Throws: the errors of `next`, and those of the store.
    func insertBatch(_ plan: BatchInsertPlan, next: (inout BatchRow) throws -> Bool) throws -> BatchOutcome

    /// Changes rows.
    func updateBatch(_ plan: BatchUpdatePlan) throws -> BatchOutcome

    /// Deletes rows, applying the delete rules.
    func deleteBatch(_ plan: BatchDeletePlan) throws -> BatchOutcome
}
