import CoreData

extension PersistenceManager {
    /// Saves the models in a CSV file, whose first record names the columns.
    ///
    /// ```
    /// uid,title,price,author.uid,author.name
    /// 9780141439587,Emma,9,austen,Jane Austen
    /// ```
    ///
    /// A column has the name of a property's coding key; those of a model within the model follow a dot. An empty field is no value; a
    /// list is JSON in its column. A record that cannot be decoded is refused, with its line and the reason, and the others are
    /// saved.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - url: the file, in UTF-8. Empty lines do not count.
    ///   - delimiter: what separates fields: a character of ASCII.
    ///   - dates: how dates are written.
    ///   - batchSize: how many models to save at a time.
    ///   - progress: counts the bytes that are done, out of the file's size.
    /// - Returns: what was inserted, updated, skipped and refused, and why.
    /// - Throws: what ``importModels(_:batchSize:progress:)`` throws, ``PersistenceError/fileNotReadable(path:reason:)``, and
    ///   ``PersistenceError/noDelimiter(_:)``.
    @discardableResult
    public func importCSV<Model: CoreModel & Codable & Sendable>(
        _ type: Model.Type, from url: URL, delimiter: Character = ",", dates: CSVDates = .iso8601, batchSize: Int = 500,
        progress: Progress? = nil
    ) async throws -> ImportReport {
        guard let byte = delimiter.asciiValue, delimiter != "\"", !delimiter.isNewline else {
            throw PersistenceError.noDelimiter("\(delimiter)")
        }
        let records = try CSVRecords(url, delimiter: byte)
        progress?.totalUnitCount = Int64(records.size)
        var batches = ImportBatches<Model>(manager: self, size: batchSize, progress: progress)
        var header: [String]?
        for record in records where !record.isBlank {
            guard let columns = header else {
                header = record.fields
                continue
            }
            guard record.fields.count == columns.count, !record.isUnterminated else {
                let reason =
                    record.isUnterminated
                    ? "Its quotes do not end." : "It has \(record.fields.count) fields, not \(columns.count)."
                batches.refuse(record.number, reason)
                continue
            }
            let row = CSVRow(header: columns, record.fields, dates: dates)
            let model: Model
            do { model = try Model(from: CSVDecoder(row: row, column: nil, codingPath: [])) } catch {
                batches.refuse(record.number, error.decodingReason)
                continue
            }
            try await batches.add(model, at: record.number, done: record.end)
        }
        try await batches.flush(done: records.size)
        return batches.report
    }
}
