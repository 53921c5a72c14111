import Foundation

/// Reads the symbols of the accessors of an `AccessorStub` from the compiler's intermediate language.
///
///     sil hidden [ossa] @$s3App6PersonC4nameSSSgvg : $@convention(method) … {
///       %2 = integer_literal $Builtin.IntLiteral, 17
///       %5 = function_ref @_pippinMarker : $@convention(thin) (Int) -> Never
///
/// What calls no marker has literals of its own, such as the hash of an enumeration.
enum SymbolReader {
    private struct Function {
        let symbol: Substring
        var number: Int?
        var callsMarker = false
    }

    /// - Returns: the symbols by the numbers of the markers.
    static func symbols(in intermediateLanguage: String) -> [Int: String] {
        var symbols: [Int: String] = [:]
        var current: Function?
        for line in intermediateLanguage.split(separator: "\n") {
            if line.hasPrefix("sil ") {
                current = nil
                guard line.hasSuffix("{"), let at = line.firstIndex(of: "@") else { continue }
                current = Function(symbol: line[line.index(after: at)...].prefix { $0 != " " })
            } else if let literal = line.range(of: "integer_literal $Builtin.IntLiteral, ") {
                current?.number = Int(line[literal.upperBound...].prefix { $0.isNumber })
            } else if line.contains("function_ref @\(AccessorStub.markerName) ") {
                current?.callsMarker = true
            }
            if let function = current, function.callsMarker, let number = function.number {
                symbols[number] = String(function.symbol)
                current = nil
            }
        }
        return symbols
    }
}
