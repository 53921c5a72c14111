import CoreDataModel
import StoreEngine

extension BatchSQL {
    /// How a column takes the value of an expression, if either may have its bytes in a file.
    ///
    /// - Parameters:
    ///   - tree: the expression.
    ///   - column: the column that takes its value.
    ///   - name: the attribute of that column, for the error: `Note.image`.
    /// - Returns: how its bytes are converted.
    /// - Throws: an `NSError` for an expression that computes something from an attribute with external storage.
    package func content(of tree: ExpressionTree, for column: SlotColumn, named name: String) throws -> Content {
        guard let mayBeFile = column.storage.mayBeFile else { return .same }
        if case .keyPath(let keys) = tree {
            switch (storage(of: keys)?.mayBeFile ?? false, mayBeFile) {
            case (false, false): return .same
            case (true, false): return .value
            case (let fromFile, true): return .marked(fromFile: fromFile)
            }
        }
        try tree.forEach { part in
            guard case .keyPath(let keys) = part, storage(of: keys)?.mayBeFile == true else { return }
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "A batch update cannot compute “\(name)” from “\(keys.joined(separator: "."))”, whose values may be in files "
                    + "beside the store; it can take such a value only as it is.")
        }
        return mayBeFile ? .marked(fromFile: false) : .same
    }

    /// How the attribute at the end of a key path is stored; nil for anything else.
    private func storage(of keys: [String]) -> ColumnStorage? {
        var (mapping, rest) = (self.mapping, keys[...])
        while let name = rest.popFirst() {
            guard let slot = mapping.layout.slotIndex(forName: name), var column = mapping.columns[slot] else {
                return nil
            }
            if rest.isEmpty, !column.isComposite { return column.storage }
            if column.isComposite {
                for (place, _) in rest.enumerated() {
                    let path = keys[..<(keys.count - rest.count + place + 1)].joined(separator: ".")
                    guard let element = column.elements.first(where: { path.hasSuffix($0.property) }) else {
                        return nil
                    }
                    column = element
                }
                return column.isComposite ? nil : column.storage
            }
            guard let destination = column.destination, let next = schema.mapping(of: destination) else { return nil }
            mapping = next
        }
        return nil
    }
}

extension ColumnStorage {
    /// Whether a value may be in a file; nil for storage of other values than bytes.
    fileprivate var mayBeFile: Bool? {
        switch self {
        case .data(let allowsExternal), .transformable(let allowsExternal): allowsExternal
        default: nil
        }
    }
}
