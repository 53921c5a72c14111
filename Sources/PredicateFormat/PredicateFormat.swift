// Predicates, expressions and sort orders: the parts that Foundation lacks outside Apple's platforms.
//
// Every source (format string, NSExpression classes, key-path builder) is converted to one of the trees in `Tree`. A
// predicate is evaluated from its tree: in memory (`Evaluation`) or as SQL (another module).
//
//     SwiftPredicates  `#Predicate` as trees
//     KeyPathPredicates  comparisons of key paths as trees (the operators are the module `PredicateOperators`)
//     Foundation       the NS-classes: thin shells around trees
//     Parsing  Printing  Evaluation
//     Tree             what a predicate says
//     KeyValueCoding   how objects give their values
//     SearchText       texts as words that are searched
//     Values           the constants of predicates and the operands of their evaluation
//     Strings          how strings are compared
@_exported import Foundation
