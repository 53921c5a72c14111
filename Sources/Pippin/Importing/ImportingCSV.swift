import StoreSession

extension PersistenceManager {
    /// Saves the models in a CSV file, whose first record names the columns.
    ///
    /// ```
    /// id,title,price,author.id,author.name
    /// 9780141439587,Emma,9,austen,Jane Austen
    /// ```
    ///
    /// A column has the name of a property's coding key; the columns of a model within the model follow a dot. A column
    /// that the model does not have ends the import before anything is saved, unless `ignoringColumns` names it. An
    /// empty field is no value; in quotes it is an empty text for a `String`. A nested struct whose fields are all
    /// empty is there if such texts are all that it requires, or if it is not optional and requires none. A list is
    /// JSON in its column.
    ///
    /// A model that is stored already keeps its values of the properties that have no column, such as the author in a
    /// list of `id,title,price`. A property that is not optional must have a column, a list, too. A nested struct is
    /// one value: a column of it replaces all of it. Where models of one type are at several places, such as an author
    /// and an editor, all of them have the same columns; models in JSON have all of their values.
    ///
    /// A text must be a value as a whole, or its record is refused: with its line, the column, the text and what was
    /// expected. `1,5`, `9abc`, `0x10` and `nan` are not numbers, 70000 is not an `Int16`, and the 30th of February is
    /// not a date. A missing closing quote is reported with the line where the quotes begin, and only that record is
    /// lost. All other records are saved.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - url: the file, in UTF-8, whose lines end with a line feed, a carriage return or both. Empty lines are
    ///     skipped. A file without a header line is refused; one with only a header has no models.
    ///   - delimiter: the ASCII character that separates fields.
    ///   - dates: how dates are written.
    ///   - ignored: columns to ignore, whether or not the model has such properties.
    ///   - batchSize: how many models to save at a time.
    ///   - progress: counts the bytes that are done, out of the file's size.
    /// - Returns: what was inserted, updated, skipped and refused, and why.
    /// - Throws: what ``importModels(_:batchSize:progress:)-(Values,_,_)`` throws,
    ///   ``PersistenceError/Code/fileNotReadable``, ``PersistenceError/Code/unknownColumns``, and
    ///   ``PersistenceError/Code/noDelimiter``.
    @discardableResult
    public func importCSV<Model: CoreModel>(
        _ type: Model.Type, from url: URL, delimiter: Character = ",", dates: CSVDates = .iso8601,
        ignoringColumns ignored: Set<String> = [], batchSize: Int = 500, progress: Progress? = nil
    ) async throws -> ImportReport {
        guard let byte = delimiter.asciiValue, delimiter != "\"", !delimiter.isNewline else {
            throw PersistenceError.noDelimiter("\(delimiter)")
        }
        let records = try CSVRecords(url, delimiter: byte)
        progress?.totalUnitCount = Int64(records.size)
        var batches = ImportBatches<Model>(manager: self, size: batchSize, progress: progress)
        let plan = try registry.plan(of: type)
        var header: CSVColumns?
        for record in records where !record.isBlank {
            guard let columns = header else {
                let columns = try CSVColumns(record, of: plan, in: registry, ignoring: ignored, path: url.path)
                let given = columns.names.filter { !ignored.contains($0) }
                batches.givenFields = try GivenFields(given, of: plan, in: registry, path: url.path)
                header = columns
                continue
            }
            if let problem = record.problem {
                let known = columns.names.indices.contains(problem.field)
                let column = known ? "“\(columns.names[problem.field])”" : "Field \(problem.field + 1)"
                try await batches.refuse(record.number, "\(column): \(problem.reason).", done: record.end)
                continue
            }
            guard record.fields.count == columns.names.count else {
                try await batches.refuse(
                    record.number, "It has \(record.fields.count) fields, not \(columns.names.count).", done: record.end
                )
                continue
            }
            let row = CSVRow(columns, record, dates: dates)
            let model: Model
            do { model = try Model(from: CSVDecoder(row: row, column: nil, codingPath: [])) } catch {
                try await batches.refuse(record.number, error.decodingReason, done: record.end)
                continue
            }
            try await batches.add(model, at: record.number, done: record.end)
        }
        if header == nil {
            throw PersistenceError.fileNotReadable(
                path: url.path, reason: "It is empty: the first line of a CSV file names its columns.")
        }
        try await batches.flush(done: records.size)
        return batches.report
    }
}
