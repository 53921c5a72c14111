import Foundation

/// Reads the symbols of the accessors of an `AccessorStub` from the compiler's intermediate language.
///
///     sil hidden [ossa] @$s3App6PersonC4nameSSSgvg : $@convention(method) … {
///       %2 = integer_literal $Builtin.IntLiteral, 17
enum SymbolReader {
    /// - Returns: the symbols by the numbers of the markers.
    static func symbols(in intermediateLanguage: String) -> [Int: String] {
        var symbols: [Int: String] = [:]
        var current: Substring?
        for line in intermediateLanguage.split(separator: "\n") {
            if line.hasPrefix("sil ") {
                current = nil
                guard line.hasSuffix("{"), let at = line.firstIndex(of: "@") else { continue }
                current = line[line.index(after: at)...].prefix { $0 != " " }
            } else if let symbol = current, let literal = line.range(of: "integer_literal $Builtin.IntLiteral, ") {
                if let number = Int(line[literal.upperBound...].prefix { $0.isNumber }) {
                    symbols[number] = String(symbol)
                }
                current = nil
            }
        }
        return symbols
    }
}
